"""What every room says of what is wrong: the place, the value, what is wrong with it, and the cure."""

from findings.finding import Finding, FindingsError, Place, said_once
from findings.text import NOTHING, Path, near, nearest, path_of, show, written

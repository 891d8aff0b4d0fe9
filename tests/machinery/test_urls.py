"""URLs as Go reads and writes them."""

import pytest

from machinery.urls import go_url

WRITTEN = {
    "https://x/a b": "https://x/a%20b",
    "https://x/ä": "https://x/%C3%A4",
    "https://ü.example/": "https://%C3%BC.example/",
    "https://x/a%2Fb": "https://x/a%2Fb",
    "https://x/a%2fb c": "https://x/a/b%20c",
    "https://x/?q=ä#f g": "https://x/?q=ä#f%20g",
    "https://u:p%20w@x": "https://u:p%20w@x",
    "HTTPS://X/A": "https://X/A",
    "https://[fe80::1%25eth0]:1/": "https://[fe80::1%25eth0]:1/",
    "https://x?": "https://x?",
    "mailto:a@b": "mailto:a@b",
    "file:///x": "file:///x",
    "https:/a": "https:/a",
    "a b": "a%20b",
    "x/a:b": "x/a:b",
}
REFUSED = ["https://x/%zz", "http://x:y", "https://u:p w@x/", "https://%41/", "https://[::1", ":a", "http://a:1:2"]


@pytest.mark.parametrize(("text", "written"), WRITTEN.items())
def test_a_url_is_written_as_go_writes_it(text: str, written: str) -> None:
    assert go_url(text).text == written
    assert go_url(written).text == written


@pytest.mark.parametrize("text", REFUSED)
def test_what_go_cannot_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a URL"):
        go_url(text)


def test_a_part_that_is_said_later_counts() -> None:
    assert go_url("https://x:1/a?b#c").merged(go_url("http://y/d")).text == "http://y/d?b#c"

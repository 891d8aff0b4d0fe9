"""ApplyConfiguration: which configurations a machine takes, when it reboots for one, what it forgets."""

from typing import TYPE_CHECKING

from grpclib import GRPCError, Status

from lab.machine import releases
from lab.machine.configuration import RefusedError, check, diff, needs_reboot
from lab.machine.dispatch import Call
from lab.machine.roles import ADMIN
from lab.machine.settings import Settings
from talosapi.gen.machine_pb2 import (
    ApplyConfiguration,
    ApplyConfigurationRequest,
    ApplyConfigurationResponse,
)

if TYPE_CHECKING:
    from lab.machine.session import Session

Request = ApplyConfigurationRequest
Mode = ApplyConfigurationRequest.Mode
_TRY_TIMEOUT = 60.0  # simulated seconds until a tried configuration is taken back


async def apply_configuration(call: Call) -> ApplyConfigurationResponse:
    """Check, decide on the mode, persist, take into use; refuses what Talos refuses with Talos's codes."""
    session = call.session
    if session.applying.locked():
        raise GRPCError(Status.FAILED_PRECONDITION, "another apply configuration is already in progress")
    async with session.applying:
        return _apply(session, call)


def _apply(session: "Session", call: Call) -> ApplyConfigurationResponse:
    request: ApplyConfigurationRequest = call.request
    rebooting = session.applied_with_reboot and _minor(session) >= releases.APPLY_ONCE
    if rebooting or session.ending.done():
        raise GRPCError(
            Status.FAILED_PRECONDITION,
            "configuration was already applied and node is rebooting, "
            "cannot apply more configuration changes until next reboot",
        )
    if session.configured and ADMIN not in call.roles:
        raise GRPCError(Status.PERMISSION_DENIED, "not authorized")
    text, settings, warnings = _checked(session, request)
    mode, details = _mode(session, request.mode, settings)
    if request.mode != Request.TRY:
        session.try_mode.cancel()  # also when nothing else comes of it
    _note(session, settings, mode, request.dry_run)
    if request.dry_run:
        secrets = (*session.settings.secrets(), *settings.secrets())
        summary = f"Dry run summary:\n{details} (skipped in dry-run).\n{diff(session.text, text, secrets)}"
        return _answer(mode, summary, ())
    _take(session, request, mode, text, settings)
    return _answer(mode, details, warnings)


def _checked(session: "Session", request: ApplyConfigurationRequest) -> tuple[str, Settings, tuple[str, ...]]:
    try:
        text = request.data.decode()
        mode = "metal" if session.machine.hardware.platform == "metal" else "cloud"
        settings, warnings = check(text, session.entry.version, mode)
    except UnicodeDecodeError as error:
        raise GRPCError(Status.INVALID_ARGUMENT, "the configuration is not UTF-8 text") from error
    except RefusedError as error:
        session.machine.record("configuration-refused")
        raise GRPCError(Status.INVALID_ARGUMENT, str(error)) from error
    if not settings.complete and session.configured:
        raise GRPCError(
            Status.INVALID_ARGUMENT,
            "the applied machine configuration doesn't contain v1alpha1 config, "
            "did you mean to patch the machine config instead?",
        )
    return text, settings, warnings


def _mode(session: "Session", wanted: "Mode.ValueType", settings: Settings) -> "tuple[Mode.ValueType, str]":
    never = _minor(session) >= releases.NEVER_REBOOTS
    blocking = needs_reboot(session.settings, settings) if session.configured and not never else ()
    if session.configured and never and wanted == Request.REBOOT:
        raise GRPCError(Status.UNIMPLEMENTED, "applying a configuration with a reboot is no longer supported")
    if not session.configured and wanted == Request.REBOOT:
        wanted = Request.NO_REBOOT
    if wanted == Request.STAGED:
        return wanted, "Staged configuration to be applied after the next reboot"
    if wanted in (Request.TRY, Request.NO_REBOOT) and blocking:
        raise GRPCError(Status.INVALID_ARGUMENT, _why(blocking))
    if wanted == Request.AUTO and blocking:
        return Request.REBOOT, f"Applied configuration with a reboot: {_why(blocking)}"
    if wanted == Request.REBOOT:
        return wanted, "Applied configuration with a reboot"
    if wanted == Request.TRY:
        return wanted, "Applied configuration without a reboot\nThe config is applied in 'try' mode"
    return Request.NO_REBOOT, "Applied configuration without a reboot"


def _minor(session: "Session") -> int:
    return releases.minor(session.entry.version)


def _why(blocking: tuple[str, ...]) -> str:
    return f"this config change can't be applied in immediate mode\ndiff: {', '.join(blocking)}"


def _take(
    session: "Session", request: ApplyConfigurationRequest, mode: "Mode.ValueType", text: str, settings: Settings
) -> None:
    if mode != Request.TRY:
        if session.machine.disk.installed and session.machine.fault("full-disk"):
            raise GRPCError(Status.UNKNOWN, "error writing the configuration: no space left on device")
        session.keep(text)
    if mode == Request.TRY:
        seconds = request.try_mode_timeout.ToTimedelta().total_seconds() if request.HasField("try_mode_timeout") else 0
        session.try_mode.start(seconds or _TRY_TIMEOUT)
    if mode in (Request.TRY, Request.NO_REBOOT):
        session.configure(text, settings)
    if mode == Request.REBOOT:
        session.applied_with_reboot = True
        session.end("reboot")


def _note(session: "Session", settings: Settings, mode: "Mode.ValueType", dry: bool) -> None:
    if not dry:
        session.machine.record(
            "configuration",
            mode=Request.Mode.Name(mode),
            hostname=settings.hostname or "",
            addresses=list(settings.addresses),
            role=settings.role,
        )


def _answer(mode: "Mode.ValueType", details: str, warnings: tuple[str, ...]) -> ApplyConfigurationResponse:
    return ApplyConfigurationResponse(messages=[ApplyConfiguration(mode=mode, mode_details=details, warnings=warnings)])

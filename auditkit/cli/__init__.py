"""The command line: one command a file, each a few lines around the Python API. The only user of click and print.

Command modules import nothing but click at their top, so that ``auditkit --help`` is instant; what a command needs is
imported when it runs.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence

import click

from auditkit.cli.audit import audit
from auditkit.cli.bootstrap import bootstrap
from auditkit.cli.build import build
from auditkit.cli.check import check
from auditkit.cli.claims import claims
from auditkit.cli.demo import demo
from auditkit.cli.importing import export, import_, verify
from auditkit.cli.inspect import inspect
from auditkit.cli.schema import schema
from auditkit.cli.sensitivity import sensitivity
from auditkit.errors import AuditkitError, printable
from auditkit.version import __version__

PASSED, FAILED, REFUSED, BROKEN, INTERRUPTED = 0, 1, 2, 3, 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="auditkit")
def auditkit() -> None:
    """Does the conclusion of a results table hold? Audits of stored cost arrays, without refitting anything.

    Start with: auditkit demo
    """


for command in (
    demo,
    inspect,
    audit,
    bootstrap,
    check,
    claims,
    sensitivity,
    schema,
    import_,
    build,
    verify,
    export,
):
    auditkit.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0 when all is well, 1 on a failed check, 2 on bad input, 3 on an internal error."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        with contextlib.suppress(AttributeError):
            getattr(sys, name).reconfigure(errors="backslashreplace")
    with _insistent_interrupt():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = auditkit.main(arguments, prog_name="auditkit", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else PASSED
    except AuditkitError as error:
        return _refuse(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return REFUSED
    except click.UsageError as error:
        hint = f" (see {error.ctx.command_path} --help)" if error.ctx is not None else ""
        return _refuse(" ".join(error.format_message().split()) + hint)
    except click.ClickException as error:
        return _refuse(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        click.echo("auditkit: interrupted, no file half written", err=True)
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PASSED
    except MemoryError:
        return _refuse("not enough memory: ask for fewer replicates, repetitions or sources")
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG}:
            return _broken(error)
        with contextlib.suppress(OSError):  # what is left in the buffer cannot be written either
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _refuse(f"cannot write the result: {error.strerror}")
    except Exception as error:
        return _broken(error)


@contextlib.contextmanager
def _insistent_interrupt() -> Iterator[None]:
    """Ctrl-C until it is heard: compiled code that calls back into Python swallows an interrupt now and then."""
    ended, lock = threading.Event(), threading.Lock()

    def insist() -> None:
        while not ended.wait(1.0):
            with lock:
                if not ended.is_set():
                    os.kill(os.getpid(), signal.SIGINT)

    def interrupted(*_: object) -> None:
        if not ended.is_set() and not any(t.name == "insist" for t in threading.enumerate()):
            threading.Thread(target=insist, name="insist", daemon=True).start()
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        with lock:
            ended.set()
        signal.signal(signal.SIGINT, before)


def _broken(error: Exception) -> int:
    if os.environ.get("AUDITKIT_TRACEBACK"):
        raise error
    reason = printable(f"{type(error).__name__}: {error}")
    click.echo(f"auditkit: internal error: {reason} (AUDITKIT_TRACEBACK=1 shows where)", err=True)
    return BROKEN


def _refuse(message: str) -> int:
    click.echo(f"auditkit: {printable(message, 900)}", err=True)
    return REFUSED

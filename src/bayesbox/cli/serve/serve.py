"""`bayes serve`."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json, note, say


@click.command(
    "serve",
    cls=options.Verb,
    short_help="Serve models over HTTP: they predict, learn and forget.",
    examples=(
        "bayes serve models",
        "bayes serve models --port 9000 --workers 4",
        "bayes serve models --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem",
        "bayes serve models --host 0.0.0.0 --behind-proxy --store postgresql://db.example.org/models",
        "bayes serve models --at 12345",
        "bayes serve models --retrain-every 5000",
        "bayes serve models --sign company.pem --max-body 4194304 --rate 100",
    ),
    notes="Create a token first: bayes token create DIR --scope predict. SIGTERM and Ctrl-C stop the service after "
    "pending requests are answered; SIGHUP reloads all model files. The log on standard error has a "
    "line of JSON for each request: time, event, id, method, route, status, ms, model, rows, token (its id), problem. "
    "Keys of --json, printed when it starts: address, models (name, kind, digest, rows, classes).",
)
@click.argument("folder", metavar="DIR")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="The port; 0 chooses a free one."
)
@click.option(
    "--bind",
    metavar="HOST:PORT",
    help="The address and port in one, such as 0.0.0.0:9000; instead of --host and --port.",
)
@click.option("--store", metavar="URL", help="Where events are kept; by default sqlite:///DIR/store.db.")
@click.option("--tls-cert", metavar="FILE", help="The TLS certificate (PEM).")
@click.option("--tls-key", metavar="FILE", help="The TLS key (PEM).")
@click.option(
    "--behind-proxy", is_flag=True, help="Listen beyond this machine without TLS, behind a proxy that provides it."
)
@click.option("--no-tokens", is_flag=True, help="Require no tokens; for this machine only.")
@click.option(
    "--workers",
    type=click.IntRange(0, 256),
    default=0,
    show_default=True,
    help="The number of processes that answer requests, besides the one that writes; 0 uses one process for both.",
)
@click.option("--at", type=click.IntRange(min=0), metavar="N", help="Answer as of event N, read-only.")
@click.option(
    "--retrain-every",
    type=click.IntRange(min=0),
    default=1000,
    show_default=True,
    metavar="EVENTS",
    help="Refit what is derived, such as a calibration, after this many events and after a forget; 0: never.",
)
@click.option("--sign", metavar="FILE", help="Sign certificates with this key, made by bayes key.")
@click.option("--max-body", type=click.IntRange(min=1), default=1 << 20, show_default=True, help="Bytes of a body.")
@click.option("--max-rows", type=click.IntRange(min=1), default=1000, show_default=True, help="Rows of a request.")
@click.option("--max-depth", type=click.IntRange(min=1), default=32, show_default=True, help="Levels of nesting.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="For a request to be received and answered.",
)
@click.option(
    "--max-in-flight", type=click.IntRange(min=1), default=64, show_default=True, help="Requests at a time, a process."
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Requests per second for each token; 0 for no limit.",
)
@click.option(
    "--log",
    type=click.Choice(["requests", "problems", "none"]),
    default="requests",
    show_default=True,
    help="What is logged on standard error.",
)
@click.option("--for", "seconds", type=click.FloatRange(min=0, min_open=True), help="Stop after this many seconds.")
@options.json_option
def command(folder: str, as_json: bool, **given: Any) -> None:
    """Serve the models of DIR over HTTP: *.bayes files and networks (*.bif, *.xmlbif, *.net, *.xdsl, *.uai).

    A model has the name of its file. Predictions by the Open Inference Protocol V2 or as rows of JSON, explanations,
    what to ask next; events are learned durably and forgotten with a certificate. The files are never written: what is
    learned is in the store. GET /openapi.json describes it all.
    """
    from bayesbox.serve.http.limits import ServiceLimits
    from bayesbox.serve.http.server import ServeOptions, run

    host, port = (given["host"], given["port"]) if given["bind"] is None else _address(given["bind"])
    asked = ServeOptions(
        folder,
        store=given["store"],
        host=host,
        port=port,
        cert=given["tls_cert"],
        key=given["tls_key"],
        behind_proxy=given["behind_proxy"],
        tokens=not given["no_tokens"],
        workers=given["workers"],
        at=given["at"],
        sign=given["sign"],
        log=given["log"],
        limits=ServiceLimits(
            body=given["max_body"],
            rows=given["max_rows"],
            depth=given["max_depth"],
            seconds=given["timeout"],
            in_flight=given["max_in_flight"],
            rate=given["rate"],
        ),
        seconds=given["seconds"],
        retrain_every=given["retrain_every"],
    )

    def started(address: str, models: list[dict[str, Any]], is_open: bool) -> None:
        if as_json:
            emit_json({"address": address, "models": models})
        else:
            say(address)
            for model in models:
                say(f"{model['name']}: {model['kind']}, digest {model['digest'][:16]}")
        sys.stdout.flush()
        if not is_open:
            store = f" --store {shlex.quote(given['store'])}" if given["store"] else ""
            note(f"There are no tokens yet: bayes token create {shlex.quote(folder)}{store} --scope predict")

    run(asked, started)


def _address(text: str) -> tuple[str, int]:
    """Split HOST:PORT; an IPv6 address is in brackets."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise click.BadParameter("must be HOST:PORT, such as 127.0.0.1:8080", param_hint="--bind")
    return host, int(port)

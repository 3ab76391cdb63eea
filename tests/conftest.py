"""What every test shares: hypothesis draws the same cases each time and is not timed; servers are started on demand."""

import signal

from hypothesis import HealthCheck, settings
from tests.servers import postgres as postgres
from tests.servers import sockets_left_open as sockets_left_open
from tests.servers import spark as spark
from tests.servers import spark_master as spark_master

settings.register_profile(
    "bayesbox",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("bayesbox")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as under nohup; commands that tests start would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

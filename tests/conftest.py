"""What every test shares: hypothesis draws the same cases each time and is not timed; servers are started on demand."""

from hypothesis import HealthCheck, settings
from tests.servers import postgres as postgres

settings.register_profile(
    "bayesbox",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("bayesbox")

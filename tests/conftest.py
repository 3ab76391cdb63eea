"""What every test shares: hypothesis draws the same cases each time and is not timed."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "bayesbox",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("bayesbox")

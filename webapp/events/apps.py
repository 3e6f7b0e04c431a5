from django.apps import AppConfig


class EventsConfig(AppConfig):
    name = "webapp.events"
    label = "events"

    def ready(self) -> None:
        # Results lie below and judge runs of one revision; where epochs begin is known here.
        from webapp.events.queries.epochs import epoch_times  # noqa: PLC0415
        from webapp.results.services import ask_for_epochs  # noqa: PLC0415

        ask_for_epochs(epoch_times)

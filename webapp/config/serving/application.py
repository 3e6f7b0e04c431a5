"""One request through the WSGI application, in a thread."""

import time
from datetime import timedelta
from typing import IO, Any

from gunicorn.http.wsgi import FileWrapper, create

from webapp.config.serving.answers import Answer


class Exchange:
    """A request whose body is here, and the answer to it."""

    def __init__(self, worker: Any, request: Any, *, client: Any, server: Any) -> None:
        self.worker = worker
        self.request = request
        self.client = client
        self.server = server
        self.answer = Answer()

    def environ(self) -> dict[str, Any]:
        """The request as WSGI knows it, without its body."""
        environ: dict[str, Any] = self._create()[1]
        return environ

    def respond(self, body: IO[bytes], size: int | None, *, closes: bool) -> bool:
        """Fill the answer; whether the connection may be used again.

        ``size`` None: the body is not here. The application hears that it is too large.
        """
        try:
            return self._respond(body, size, closes=closes)
        except Exception as error:  # noqa: BLE001 (as Gunicorn's own workers: a plain answer)
            self.refuse(error)
            return False

    def refuse(self, error: Exception) -> None:
        """Fill the answer with what Gunicorn says of ``error``: 4xx for a bad request, else 500."""
        self.answer.clear()
        self.worker.handle_error(self.request, self.answer, self.client, error)

    def _respond(self, body: IO[bytes], size: int | None, *, closes: bool) -> bool:
        response, environ = self._create()
        environ["wsgi.multithread"] = True
        environ["wsgi.input"] = body
        environ["CONTENT_LENGTH"] = str(self.worker.limits.body_bytes + 1 if size is None else size)
        if closes or size is None:
            response.force_close()
        self._run(response, environ)
        return not response.should_close()

    def _run(self, response: Any, environ: dict[str, Any]) -> None:
        started = time.monotonic()
        given = self.worker.wsgi(environ, response.start_response)
        try:
            if isinstance(given, FileWrapper):
                response.write_file(given)
            else:
                for item in given:
                    response.write(item)
            response.close()
        finally:
            took = timedelta(seconds=time.monotonic() - started)
            self.worker.log.access(response, self.request, environ, took)
            if hasattr(given, "close"):
                given.close()

    def _create(self) -> Any:
        return create(self.request, self.answer, self.client, self.server, self.worker.cfg)

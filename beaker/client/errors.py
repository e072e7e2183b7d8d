"""The error that the public client raises."""


class BeakerClientError(RuntimeError):
    """A call that did not succeed.

    `status_code` is the HTTP status, 0 when there is none: no answer, an answer that cannot be used, or a call that
    this side refused. `body` is what the service said, or why there is no answer.
    """

    def __init__(self, status_code: int, body: str) -> None:
        super().__init__(status_code, body)
        self.status_code = status_code
        self.body = body

    def __str__(self) -> str:
        return f"HTTP {self.status_code}: {self.body}" if self.status_code else f"no HTTP status (0): {self.body}"

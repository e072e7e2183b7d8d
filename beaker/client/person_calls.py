"""Methods of the public clients for what somebody does with a login of their own.

`cli_token` is the token of a login that is used in place of the client's key.
"""

from beaker.client.methods import Steps, call, method
from beaker.core.strict_json import JsonObject


class PersonCalls:
    """What somebody does with a login of their own."""

    __slots__ = ()

    @method
    def start_cli_login(self, *, name: str = "Beaker CLI") -> Steps[JsonObject]:
        """Begin a login that is confirmed in a browser: its codes, and where to confirm them."""
        return call("start_cli_login", name=name)

    @method
    def poll_cli_login(self, *, challenge_id: str, poll_token: str) -> Steps[JsonObject]:
        """Whether a login was confirmed, and its token then."""
        return call("poll_cli_login", challenge_id=challenge_id, poll_token=poll_token)

    @method
    def get_user_me(self, *, cli_token: str | None = None) -> Steps[JsonObject]:
        """The person and the organization of a login."""
        return call("get_user_me", token=cli_token)

    @method
    def logout_user(self, *, cli_token: str | None = None) -> Steps[None]:
        """End a login."""
        yield from call("logout_user", token=cli_token)

    @method
    def list_user_agents(self, *, cli_token: str | None = None) -> Steps[JsonObject]:
        """The agents that a person may see."""
        return call("list_user_agents", token=cli_token)

    @method
    def update_user_agent(
        self,
        *,
        agent_id: str,
        name: str | None = None,
        beaker_config_path: str | None = None,
        cli_token: str | None = None,
    ) -> Steps[JsonObject]:
        """Give an agent another name, or another path of its configuration."""
        return call(
            "update_user_agent",
            token=cli_token,
            agent_id=agent_id,
            name=name,
            beaker_config_path=beaker_config_path,
        )

    @method
    def associate_user_agent_repository(
        self, *, agent_id: str, github_repository: str, beaker_config_path: str, cli_token: str | None = None
    ) -> Steps[JsonObject]:
        """Bind an agent to a repository, for good."""
        return call(
            "associate_user_agent_repository",
            token=cli_token,
            agent_id=agent_id,
            github_repository=github_repository,
            beaker_config_path=beaker_config_path,
        )

    @method
    def create_user_api_key(self, *, name: str, cli_token: str | None = None) -> Steps[JsonObject]:
        """A new API key of the organization; only this answer holds it."""
        return call("create_user_api_key", token=cli_token, name=name)

    @method
    def get_user_github_connection(self, *, cli_token: str | None = None) -> Steps[JsonObject]:
        """Whether GitHub is connected, and to which accounts."""
        return call("get_user_github_connection", token=cli_token)

    @method
    def start_user_github_connect(self, *, cli_token: str | None = None) -> Steps[JsonObject]:
        """Begin to connect GitHub: the page on which it is done."""
        return call("start_user_github_connect", token=cli_token)

    @method
    def list_user_github_repositories(self, *, cli_token: str | None = None) -> Steps[JsonObject]:
        """The repositories that GitHub lets Beaker see."""
        return call("list_user_github_repositories", token=cli_token)

    @method
    def list_user_github_branches(self, *, repository: str, cli_token: str | None = None) -> Steps[JsonObject]:
        """The branches of a repository, and its default one."""
        return call("list_user_github_branches", token=cli_token, repository=repository)

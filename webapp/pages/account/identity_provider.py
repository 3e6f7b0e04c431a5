"""The provider of single sign-on: OpenID Connect, with the identities of one issuer."""

import hashlib
from typing import Any

from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider

PROVIDER = "oidc"
"""What identities are stored under."""


class IdentityProvider(OpenIDConnectProvider):
    """Who somebody is follows from the issuer and its subject, and from nothing else.

    An instance that changes its provider would else take the new one's subject 17 for the former
    one's. Of what the provider knows about people only a name for the page is stored.
    """

    def extract_uid(self, data: dict[str, Any]) -> str:
        """A digest of issuer and subject. Raises OAuth2Error where the provider does not say, or
        answers for another subject than that of the token (OpenID Connect Core, 5.3.2).
        """
        token, info = data.get("id_token") or {}, data.get("userinfo") or {}
        issuer, subject = token.get("iss"), token.get("sub")
        if not issuer or not subject or info.get("sub", subject) != subject:
            raise OAuth2Error("The provider does not say who signed in.")
        return hashlib.sha256(f"{issuer}\n{subject}".encode()).hexdigest()

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """Under which name the page of the account shows the identity."""
        common = self.extract_common_fields(data)
        name = common.get("username") or common.get("email") or common.get("name")
        return {"name": str(name or "")[:150]}

"""The WSGI application that Gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.config.settings")
_site = get_wsgi_application()

from webapp.config.admission import Admission  # noqa: E402 (needs Django, set up only now)

application = Admission(_site)

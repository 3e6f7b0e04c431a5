# Driftline's images. The web server, the worker and its scheduler are the same image with another
# command; `front` is Caddy with the static files (docker-compose.yml). No compiler: everything comes
# as wheels, but a font.
FROM docker.io/library/python:3.11-slim-bookworm AS build
WORKDIR /app
RUN python3 -m venv /opt/driftline
ENV PATH=/opt/driftline/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# The dependencies change less often than the code: a layer of their own. They include the pg_dump and
# pg_restore of the server's version, for `manage.py backup` and `restore`, and what the agent needs, which
# goes into the file labagent.pyz that the instance serves.
COPY locked locked
RUN pip install --no-deps --require-hashes -r locked/build.txt \
 && pip install --no-deps --require-hashes --no-build-isolation --use-pep517 --only-binary :all: --no-binary font-roboto -r locked/run.txt
COPY . .
RUN DRIFTLINE_STATIC_ROOT=/app/staticfiles python manage.py collectstatic --noinput --verbosity=0

# The version that `make up` brings along
FROM docker.io/library/caddy:2.11.7 AS front
# A new volume takes the owner: the user in docker-compose.yml, who could not write certificates otherwise.
RUN chown -R 10002:10002 /data
COPY Caddyfile webapp/launcher/driftline.caddy /etc/caddy/
COPY --from=build /app/staticfiles /srv/static

FROM docker.io/library/python:3.11-slim-bookworm
# A new volume for backups takes the owner.
RUN useradd --system --uid 10001 --no-create-home --home-dir /nonexistent driftline \
 && install --directory --owner=driftline --mode=0700 /backups
COPY --from=build /opt/driftline /opt/driftline
COPY --from=build /app /app
WORKDIR /app
ENV PATH=/opt/driftline/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=webapp.config.settings \
    DRIFTLINE_STATIC_ROOT=/app/staticfiles \
    PROMETHEUS_MULTIPROC_DIR=/tmp/driftline-metrics \
    DRIFTLINE_BIND=0.0.0.0:8000 \
    DRIFTLINE_LOG_FORMAT=json
USER driftline
EXPOSE 8000
CMD ["python", "-m", "gunicorn", "-c", "python:webapp.config.gunicorn", "webapp.config.wsgi"]

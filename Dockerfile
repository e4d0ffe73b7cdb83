# The server, small and without root. `docker build -t runyard .`; what to run is in deploy/compose.yaml.
FROM node:22-slim AS page
WORKDIR /src/ui
COPY ui/package.json ui/package-lock.json ui/.npmrc ./
RUN npm ci --ignore-scripts
COPY ui ./
RUN npm run build

FROM python:3.12-slim AS build
WORKDIR /src
COPY requirements/runtime.txt requirements/
RUN python -m venv /opt/runyard \
    && /opt/runyard/bin/pip install --no-cache-dir --require-hashes -r requirements/runtime.txt
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
COPY --from=page /src/src/runyard/web/built src/runyard/web/built
RUN /opt/runyard/bin/pip install --no-cache-dir --no-deps .

FROM python:3.12-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home --home-dir /data runyard \
    && install -d -o runyard -g runyard -m 0700 /data/.runyard /data/.runyard/workspaces
COPY --from=build /opt/runyard /opt/runyard
ENV PATH=/opt/runyard/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    RUNYARD_HOST=0.0.0.0 \
    RUNYARD_PORT=8000
USER runyard
WORKDIR /data
# A new volume that is mounted at one of these takes over the owner of the folder in the image.
VOLUME /data /data/.runyard/workspaces
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s --retries=5 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health', timeout=2)"]
CMD ["runyard", "serve"]

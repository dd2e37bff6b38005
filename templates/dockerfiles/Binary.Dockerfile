FROM debian:stable-slim

COPY bin/app /usr/local/bin/app
USER nobody
CMD ["app"]

# Errata as an image: docker build --tag errata . How to run it stands in docs/running.md, under Containers.
FROM node:24.22.3-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# No dependency needs its install script here.
RUN npm ci --ignore-scripts
COPY . ./
RUN npm pack --loglevel=error && tar --extract --gzip --file errata-*.tgz

FROM node:24.22.3-slim AS dependencies
WORKDIR /dependencies
COPY package.json package-lock.json .npmrc ./
# The optional ones are a Node and a PostgreSQL of a checkout's own.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:24.22.3-slim
WORKDIR /opt/errata
COPY --from=dependencies /dependencies/node_modules ./node_modules
COPY --from=build /build/package ./
ENV NODE_ENV=production ERRATA_CONFIG=/etc/errata/errata.yaml
# Nothing is written below / : the file system may be read-only.
USER 10001:10001
EXPOSE 8787
# Waits for the commit of the run under way.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:8787/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/opt/errata/bin/errata.mjs"]
CMD ["serve", "--listen", "0.0.0.0:8787"]

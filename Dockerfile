# Gatehouse in a container: an unprivileged process, no compiler and nothing for tests. See docs/how-to/deploy.md.
# Debian, not Alpine: the embedded PostgreSQL needs glibc.
ARG NODE=node:22-bookworm-slim

FROM ${NODE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY config ./config
COPY migrations ./migrations
COPY src ./src
COPY views ./views
COPY docs ./docs
RUN npm run build && npm run docs && npm prune --omit=dev --no-audit --no-fund
# Links the libraries of the embedded PostgreSQL, which a blocked install script leaves undone, and fails here where it would not run there.
RUN node --input-type=module -e "import { locateBinaries } from './dist/src/platform/embedded-postgres/binaries.js'; locateBinaries({});"

FROM ${NODE}
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
COPY --from=build /build/package.json /build/package-lock.json ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY views ./views
RUN chmod +x dist/src/main.js && ln -s /app/dist/src/main.js /usr/local/bin/gatehouse
# Root owns the program, the service owns its data alone.
RUN mkdir --mode=700 /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# One helper thread for V8, and a small nursery: docs/performance/2026-11-22-speed.md.
CMD ["node", "--v8-pool-size=1", "--max-semi-space-size=8", "dist/src/main.js"]

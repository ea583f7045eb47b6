# The gateway alone. Node runs its TypeScript as it is, so there is nothing to build: the first stage only keeps npm's
# cache out of the image.
FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM node:24-slim
WORKDIR /app
# For Express and its like; the gateway itself behaves the same everywhere.
ENV NODE_ENV=production
COPY package.json ./
COPY --from=dependencies /app/node_modules ./node_modules
COPY src ./src
# For the doctor (node src/doctor/main.ts), to compare with what the database has seen.
COPY supabase/migrations ./supabase/migrations
USER node
EXPOSE 3000
# Whether the process answers. Not /readyz: restarting the gateway does not bring back a Supabase that is away.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# No shell and no npm in between: SIGTERM has to reach the gateway.
CMD ["node", "src/server.ts"]

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HttpBindings } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { App, setExperimental } from '@supabase/lite';
import { PostgresConnection } from '@supabase/lite/postgres';
import { Hono } from 'hono';
import { requireApiKey, resolveKey } from './api/access.ts';
import { answering, publishedSettings, signInRoutes } from './api/auth.ts';
import { accountRoutes } from './api/auth-account.ts';
import { adminRoutes, sessionAddress } from './api/auth-admin.ts';
import { requireCaptcha } from './api/auth-captcha.ts';
import { apiVersion } from './api/auth-errors.ts';
import { CODE_DIGITS } from './api/auth-mails.ts';
import { fullTokens, publishedKeys, signedInUser } from './api/auth-session.ts';
import { unusedRoutes } from './api/auth-unused.ts';
import { filesAlone, listen } from './api/listen.ts';
import { Mailbox } from './api/mailbox.ts';
import { ObjectFiles } from './api/objects.ts';
import { restRequests } from './api/rest.ts';
import { driverOptions, RestConnection } from './api/rest-connection.ts';
import { MAX_ROWS } from './api/rest-functions.ts';
import { storageRoutes } from './api/storage.ts';
import type { SigningAlgorithm } from './api/user-tokens.ts';
import { as } from './database.ts';
import { LOCAL_KEYS } from './keys.ts';
import { PROJECT } from './project.ts';

/** A Supabase-compatible API on 127.0.0.1: Auth, the data API, Storage, and a studio at its root. */
export interface Api {
  readonly url: string;
  /** Where files are fetched from: the same, or at the `host` that others in the network reach. */
  readonly publicUrl: string;
  /** Ends it, open connections included. Safe to call twice. */
  stop(): Promise<void>;
}

export interface ApiOptions {
  /** A database that `prepareDatabase` has seen. */
  databaseUrl: string;
  /** Where the bytes of storage objects are kept. */
  storageDir: string;
  /** 0 picks a free one. */
  port: number;
  /** Another address of this machine at which, on the same port, public and signed files are served, and nothing else. */
  host?: string | undefined;
  /** Whether new users must confirm their address before they can sign in; in `supabase start` they need not. */
  emailConfirmations?: boolean;
  /** Told of each mail, in one line with the address and the code. */
  log?: (line: string) => void;
  /** Whether users can sign up and in with e-mail address and password; true unless said otherwise. */
  emailSignIn?: boolean;
  /** Whether CAPTCHA protection is on. Default: false. */
  captcha?: boolean;
  /** What access tokens are signed with: ES256 unless said otherwise, as new projects do. */
  signing?: SigningAlgorithm;
}

// Lite's files are served from where the package has them: dist/static/…
const liteDist = fileURLToPath(new URL('../..', import.meta.resolve('@supabase/lite/dist/manifest.json')));

/**
 * Starts the API on a prepared database.
 * @throws an Error of one sentence when the port is in use
 */
export async function startApi(options: ApiOptions): Promise<Api> {
  await using starting = new AsyncDisposableStack();
  const mailbox = new Mailbox(options.log ?? (() => {}));
  let url = '';
  const auth = authApp(options, mailbox, () => url);
  starting.defer(() => auth.connection.close());
  const data = await dataApp(options);
  starting.defer(() => data.connection.close());

  const running = new Set<Promise<Response>>();
  // A pool never ends, or breaks, when it is closed under a transaction.
  starting.defer(async () => void (await Promise.allSettled(running)));
  const routes = new Hono<{ Bindings: HttpBindings }>()
    .use('/static/*', serveStatic({ root: liteDist }))
    // A mail is there before what it belongs to is committed; whoever looks it up acts on both.
    .get('/api/v1/search', async (c, next) => {
      await Promise.allSettled(running);
      return mailbox.search(c, next);
    })
    .all('*', (c) => {
      const app = c.req.path.startsWith('/auth/v1') ? auth : data;
      const answer = app.fetch(c.req.raw, { peerAddress: c.env.incoming.socket.remoteAddress ?? null });
      running.add(answer);
      return answer.finally(() => running.delete(answer));
    });
  const api = await listen(routes.fetch, options.port, '127.0.0.1');
  starting.defer(api.close);
  url = api.url;
  const { host } = options;
  const files = host === undefined ? api : await listen(filesAlone(routes.fetch), api.port, host);
  starting.defer(files.close);
  const started = starting.move();
  return { url, publicUrl: files.url, stop: () => started.disposeAsync() };
}

/** Auth signs in to the database as its own role, which has no rights outside its schema. */
function authApp(options: ApiOptions, mailbox: Mailbox, url: () => string) {
  const { databaseUrl, emailConfirmations = false } = options;
  const { emailSignIn = true, signing = 'ES256' } = options;
  const connection = new PostgresConnection({
    url: as('supabase_auth_admin', databaseUrl),
    postgresOptions: driverOptions(),
  });
  const sql = connection.driver;
  return new App({
    connection,
    api: { enabled: false },
    storage: { enabled: false },
    studio: { enabled: false },
    auth: {
      enabled: true,
      jwt_secret: LOCAL_KEYS.jwtSecret,
      enable_refresh_token_rotation: true,
      minimum_password_length: 6,
      email: {
        enable_signup: emailSignIn,
        enable_confirmations: emailConfirmations,
        max_frequency: '1s',
        otp_length: CODE_DIGITS,
        template: { confirmation: template('confirmation'), recovery: template('recovery') },
      },
    },
    options: {
      drivers: { email: mailbox },
      server: {
        apiKeys: { resolver: resolveKey },
        middlewares: [
          requireApiKey,
          apiVersion,
          ...(options.captcha ? [requireCaptcha] : []),
          answering(publishedKeys(signing)),
          fullTokens(() => `${url()}/auth/v1`, signing),
          publishedSettings,
          sessionAddress(sql),
          signedInUser,
          adminRoutes(sql),
          answering(unusedRoutes(sql)),
          answering({ ...signInRoutes(emailSignIn), ...accountRoutes }),
        ],
      },
    },
  });
}

/** One of the mails that `supabase start` sends, too. */
const template = (name: string) => ({
  content_path: fileURLToPath(new URL(`supabase/templates/${name}.html`, PROJECT)),
});

async function dataApp({ databaseUrl, storageDir }: ApiOptions) {
  // Its storage is an experiment to Lite, to be asked for, and warned of.
  setExperimental('storage', true);
  const connection = new RestConnection(databaseUrl);
  await connection.watchSchema();
  const files = new ObjectFiles(storageDir);
  const unfinishedDir = join(storageDir, 'unfinished');
  const app = new App({
    connection,
    api: { enabled: true, schemas: ['public'], max_rows: MAX_ROWS },
    auth: { enabled: false, jwt_secret: LOCAL_KEYS.jwtSecret },
    storage: { enabled: true },
    studio: { enabled: true },
    options: {
      server: {
        admin: true,
        apiKeys: { resolver: resolveKey },
        middlewares: [
          requireApiKey,
          restRequests(connection),
          storageRoutes({ connection, files, unfinishedDir }),
        ],
      },
    },
  });
  app._storageAdapter = files as typeof files & NonNullable<App['_storageAdapter']>;
  const { warn } = console;
  console.warn = () => {};
  await app.init();
  console.warn = warn;
  return app;
}

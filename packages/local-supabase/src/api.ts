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
import { adminRoutes, sessionOrigin } from './api/auth-admin.ts';
import { requireCaptcha } from './api/auth-captcha.ts';
import { apiVersion } from './api/auth-errors.ts';
import { codeDigits } from './api/auth-mails.ts';
import { rejectPhones } from './api/auth-phone.ts';
import { fullTokens, publishedKeys, signedInUser } from './api/auth-session.ts';
import { unusedRoutes } from './api/auth-unused.ts';
import { filesAlone, listen } from './api/listen.ts';
import { setObjectFiles } from './api/lite.ts';
import { createMailbox, type Mailbox } from './api/mailbox.ts';
import { createObjectFiles } from './api/objects.ts';
import { restRequests } from './api/rest.ts';
import { driverOptions, RestConnection } from './api/rest-connection.ts';
import { maxRows } from './api/rest-functions.ts';
import { storageRoutes } from './api/storage.ts';
import type { SigningAlgorithm } from './api/user-tokens.ts';
import { as } from './database.ts';
import { localKeys } from './keys.ts';
import { projectFolder } from './project.ts';

/** Supabase-compatible API on 127.0.0.1: Auth, the data API, Storage, and a studio at its root. */
export interface Api {
  readonly url: string;
  /** Base address of public and signed files: `url`, or the same port at `host`. */
  readonly publicUrl: string;
  /** Stops serving and closes open connections. Can be called twice. */
  stop(): Promise<void>;
}

export interface ApiOptions {
  /** Database that `prepareDatabase` has prepared. */
  databaseUrl: string;
  /** Folder for the files of Storage. */
  storageDir: string;
  /** 0 picks a free port. */
  port: number;
  /** Another address of this machine. On the same port, it serves only public and signed files. */
  host?: string | undefined;
  /** Requires new users to confirm their address before they can sign in. Default: false, as in `supabase start`. */
  emailConfirmations?: boolean;
  /** Receives one line for each mail, with the address and the code. */
  log?: (line: string) => void;
  /** Enables sign-up and sign-in with e-mail address and password. Default: true. */
  emailSignIn?: boolean;
  /** Enables sign-up without an e-mail address. Default: false. */
  anonymousSignIns?: boolean;
  /** Enables CAPTCHA protection. Default: false. */
  captcha?: boolean;
  /** Algorithm of access tokens. Default: ES256, as in new projects. */
  signing?: SigningAlgorithm;
}

// Folder of @supabase/lite, whose dist/static/ is served.
const liteDist = fileURLToPath(new URL('../..', import.meta.resolve('@supabase/lite/dist/manifest.json')));

/**
 * Starts the API on a prepared database.
 * @throws an Error of one sentence if the port is in use
 */
export async function startApi(options: ApiOptions): Promise<Api> {
  await using starting = new AsyncDisposableStack();
  const mailbox = createMailbox(options.log ?? (() => {}));
  let url = '';
  const auth = authApp(options, mailbox, () => url);
  starting.defer(() => auth.connection.close());
  const data = await dataApp(options);
  starting.defer(() => data.connection.close());

  const running = new Set<Promise<Response>>();
  // Wait for running requests, because closing the pool during a transaction never ends.
  starting.defer(async () => void (await Promise.allSettled(running)));
  const routes = new Hono<{ Bindings: HttpBindings }>()
    .use('/static/*', serveStatic({ root: liteDist }))
    // Wait for running requests, because a mail is sent before its transaction is committed.
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

/** Creates Auth. It connects to the database as a separate role, which has no rights outside its schema. */
function authApp(options: ApiOptions, mailbox: Mailbox, url: () => string) {
  const { databaseUrl, emailConfirmations = false } = options;
  const { emailSignIn = true, anonymousSignIns = false, signing = 'ES256' } = options;
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
      jwt_secret: localKeys.jwtSecret,
      enable_refresh_token_rotation: true,
      enable_anonymous_sign_ins: anonymousSignIns,
      minimum_password_length: 6,
      email: {
        enable_signup: emailSignIn,
        enable_confirmations: emailConfirmations,
        max_frequency: '1s',
        otp_length: codeDigits,
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
          rejectPhones,
          ...(options.captcha ? [requireCaptcha] : []),
          answering(publishedKeys(signing)),
          fullTokens(() => `${url()}/auth/v1`, signing),
          publishedSettings,
          sessionOrigin(sql),
          signedInUser,
          adminRoutes(sql),
          answering(unusedRoutes(sql)),
          answering({ ...signInRoutes(emailSignIn, anonymousSignIns), ...accountRoutes }),
        ],
      },
    },
  });
}

/** Returns the template of a mail, which `supabase start` also uses. */
const template = (name: string) => ({
  content_path: fileURLToPath(new URL(`supabase/templates/${name}.html`, projectFolder)),
});

async function dataApp({ databaseUrl, storageDir }: ApiOptions) {
  // Enable Storage without the warning that Lite prints for experimental features.
  setExperimental('storage', true);
  const connection = new RestConnection(databaseUrl);
  await connection.watchSchema();
  const files = createObjectFiles(storageDir);
  const unfinishedDir = join(storageDir, 'unfinished');
  const app = new App({
    connection,
    api: { enabled: true, schemas: ['public'], max_rows: maxRows },
    auth: { enabled: false, jwt_secret: localKeys.jwtSecret },
    storage: { enabled: true },
    studio: { enabled: true },
    options: {
      server: {
        admin: true,
        apiKeys: { resolver: resolveKey },
        middlewares: [requireApiKey, restRequests(connection), storageRoutes({ connection, files, unfinishedDir })],
      },
    },
  });
  setObjectFiles(app, files);
  const { warn } = console;
  console.warn = () => {};
  await app.init();
  console.warn = warn;
  return app;
}

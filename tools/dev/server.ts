import { migrationDrift } from '@sounds-service/local-supabase/migrations';
import { startSmallApple } from '@sounds-service/local-supabase/small-apple';
import { createClient } from '@supabase/supabase-js';
import express, { type RequestHandler } from 'express';
import { createApp } from '../../src/app.ts';
import { configOrExit } from '../../src/config/config.ts';
import { createContext } from '../../src/context.ts';
import { apiBase } from '../../src/endpoint.ts';
import { serve } from '../../src/http/serve.ts';
import { howToApply } from './pending-migrations.ts';
import { referenceScript } from './reference.ts';
import { createDemoUsers, demoAccount } from './seed.ts';

// Starts the gateway of `npm run dev`: that of src/server.ts, with additions that only developers may have.

const apple = await startSmallApple();
const config = configOrExit();
const secrets = { ...config.secrets, applePrivateKey: apple.privateKey };
const context = createContext({ ...config, apple: apple.team, secrets }, undefined, apple.url);
const { port } = context.config;

/** Returns an access token of the demo account, or undefined if it cannot sign in. */
async function demoToken(): Promise<string | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}${apiBase}/auth/signin`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(demoAccount),
  });
  const { data } = (await response.json()) as { data?: { access_token: string } };
  return data?.access_token;
}

/** Returns the script of the reference, whose requests carry the token of the demo account, if that can sign in. */
const startSignedIn: RequestHandler = async (_req, res) => {
  const token = await demoToken().catch(() => undefined);
  res.type('js').set('Cache-Control', 'no-store').send(referenceScript(token));
};

/** Adds pending migrations to a 500, because the source may need them. */
const nameWaitingMigrations: RequestHandler = (_req, res, next) => {
  const json = res.json.bind(res);
  res.json = (body) => {
    if (res.statusCode !== 500) return json(body);
    void migrationDrift(process.env['DEV_DATABASE_URL'] ?? '')
      .then(
        ({ pending }) => pending,
        () => [], // the database is down, which explains the 500
      )
      .then((pending) => {
        if (pending.length > 0) body.error.message += ` In development: ${howToApply(pending)}`;
        json(body);
      });
    return res;
  };
  next();
};

/** Creates a deleted demo account again, because the reference sends its requests as a demo user. */
const keepDemoUsers: RequestHandler = (_req, res, next) => {
  const { supabase, secrets } = context.config;
  const client = createClient(supabase.url, secrets.supabaseSecretKey, { auth: { persistSession: false } });
  res.on('finish', () => void createDemoUsers(client).catch(() => {})); // the next deletion or start tries again
  next();
};

const app = express().disable('x-powered-by');
app.get(`${apiBase}/docs/start.js`, startSignedIn);
app.delete(`${apiBase}/me`, keepDemoUsers);
app.use(nameWaitingMigrations);
app.use(createApp(context));
serve(context, app);

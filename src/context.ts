import type { RequestHandler } from 'express';
import { type Logger, pino } from 'pino';
import { type AuthApi, createAuthApi } from './auth-api.ts';
import { type Caller, createVerifier } from './caller.ts';
import type { Config } from './config.ts';
import { createRateLimit } from './rate-limit.ts';
import { createSupabase, type Supabase } from './supabase.ts';
import { createUpstream, type Fetch } from './upstream.ts';

/** What the app is wired with. */
export type Context = Readonly<{
  config: Config;
  log: Logger;
  fetch: Fetch;
  auth: AuthApi;
  supabase: Supabase;
  verify: (token: string) => Promise<Caller>;
  rateLimit: RequestHandler;
  /** Undoes createContext; call it when no request is in flight any more. */
  close: () => Promise<void>;
}>;

/** Wires the app. Nothing is connected before the first request needs it. */
export function createContext(config: Config, log: Logger = pino({ level: config.logLevel })): Context {
  const upstream = createUpstream();
  return {
    config,
    log,
    fetch: upstream.fetch,
    auth: createAuthApi(config, upstream.fetch),
    supabase: createSupabase(config, upstream.fetch),
    verify: createVerifier(config, upstream.fetch),
    rateLimit: createRateLimit(config),
    close: () => upstream.close(),
  };
}

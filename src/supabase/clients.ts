import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import type { Config } from '../config/config.ts';
import type { Database } from './database.types.ts';
import type { Fetch } from './fetch.ts';

export type Client = SupabaseClient<Database>;
export interface Clients {
  readonly user: Client;
  readonly service: Client;
}

/**
 * Creates the two clients that all requests share: `user` with the publishable key, where each call sets the caller's
 * token, and `service` with the secret key. `accessToken` disables sign-in methods, so that no session can leak.
 */
export function createClients({ supabase, secrets }: Config, fetch: Fetch): Clients {
  const clientWith = (key: string): Client =>
    createClient<Database>(supabase.url, key, { accessToken: async () => key, global: { fetch } });
  return { user: clientWith(supabase.publishableKey), service: clientWith(secrets.supabaseSecretKey) };
}

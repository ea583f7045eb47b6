import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import pRetry from 'p-retry';
import { LOCAL_KEYS } from '../dev/keys.ts';
import { CannotGoOn } from './problems.ts';

/** The Supabase project that is filled. */
export interface Project {
  url: string;
  secretKey: string;
}

/**
 * The project that the environment names; with none named, that of `npm run dev`.
 * @throws CannotGoOn when half of it is named
 */
export function projectOf(env: NodeJS.ProcessEnv): Project {
  const { SUPABASE_URL: url, SUPABASE_SECRET_KEY: secretKey, SUPABASE_PORT: port } = env;
  if (!url && !secretKey)
    return { url: `http://127.0.0.1:${port || 54321}`, secretKey: LOCAL_KEYS.secretKey };
  if (!url || !secretKey) {
    const missing = url ? 'SUPABASE_SECRET_KEY' : 'SUPABASE_URL';
    throw new CannotGoOn(
      `Set ${missing} as well, for example in .env (dashboard: Project Settings, API keys).`,
    );
  }
  if (!/^https?:/.test(url) || !URL.canParse(url)) throw new CannotGoOn(`SUPABASE_URL is no address: ${url}`);
  return { url: url.replace(/\/+$/, ''), secretKey };
}

const RETRIES = { retries: 4, factor: 2, minTimeout: 500, randomize: true };

/** A way into the project, until the signal ends what is under way. */
export interface Connection {
  project: Project;
  client: SupabaseClient;
  signal: AbortSignal;
}

/**
 * A client that tries again, with growing delay, while the project is away or has too much to do. Whatever it is asked
 * by an import may be asked twice.
 */
export function connect(project: Project, signal: AbortSignal, retries = RETRIES.retries): Connection {
  const client = createClient(project.url, project.secretKey, {
    auth: { persistSession: false, autoRefreshToken: false },
    global: { fetch: (input, init) => fetchPatiently(project, input, { ...init, signal }, retries) },
  });
  return { project, client, signal };
}

/** @throws CannotGoOn when no other request would fare better */
async function fetchPatiently(
  { url }: Project,
  input: Parameters<typeof fetch>[0],
  init: RequestInit & { signal: AbortSignal },
  retries: number,
): Promise<Response> {
  let answer: Response | undefined;
  const attempt = async () => {
    answer = undefined;
    answer = await fetch(input, init);
    if (mayPass(answer.status)) throw new Error(`answered ${answer.status}`);
    return answer;
  };
  try {
    answer = await pRetry(attempt, { ...RETRIES, retries, signal: init.signal });
  } catch (error) {
    if (init.signal.aborted) throw error;
    if (!answer)
      throw new CannotGoOn(
        `Nothing answers at ${url}. Start that Supabase, correct SUPABASE_URL, or look after the network.`,
      );
  }
  const sentence = verdict(answer.status, url);
  if (sentence) throw new CannotGoOn(sentence);
  return answer;
}

export const mayPass = (status: number) => status >= 500 || status === 429;

/** What the status of an answer means for the import as a whole, if anything. */
export function verdict(status: number, url: string): string | undefined {
  if (status === 401)
    return 'SUPABASE_SECRET_KEY is not a secret key of that project. Copy it from the dashboard: Project Settings, API keys.';
  if (status === 402)
    return 'The project has used up what its plan includes. Free some space or raise its plan in the dashboard.';
  if (mayPass(status))
    return `${url} answers with ${status}: the project is paused, full, or has too much to do. Look at it in the dashboard, then run the import again.`;
  return undefined;
}

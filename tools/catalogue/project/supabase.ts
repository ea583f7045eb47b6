import { localKeys } from '@sounds-service/local-supabase/keys';
import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import pRetry from 'p-retry';
import { ImportError } from '../shared/problems.ts';

interface Project {
  url: string;
  secretKey: string;
  /** Advice if nothing answers at the URL. */
  remedy: string;
}

/** Returns why a value is not the address of a project, without repeating the value, which may have a password. */
function problemOf(value: string): string | undefined {
  const url = URL.parse(value);
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an address such as https://abcd.supabase.co';
  if (url.username || url.password) return 'must not contain a user or a password';
  return /[?#]/.test(value) ? 'must not contain a query or a fragment' : undefined;
}

/**
 * Returns the project of the environment, or that of `npm run dev` if it names none.
 * @throws ImportError if the URL or the key is missing, or the URL is none of a project
 */
export function projectOf(env: NodeJS.ProcessEnv): Project {
  const names = ['SUPABASE_URL', 'SUPABASE_SECRET_KEY', 'SUPABASE_PORT'] as const;
  const [url, secretKey, port] = names.map((name) => env[name]?.trim());
  if (!url && !secretKey)
    return {
      url: `http://127.0.0.1:${port || 54321}`,
      secretKey: localKeys.secretKey,
      remedy: 'Start npm run dev; if it runs on another port, set SUPABASE_PORT to that.',
    };
  if (!url || !secretKey) {
    const missing = url ? 'SUPABASE_SECRET_KEY' : 'SUPABASE_URL';
    throw new ImportError(`Set ${missing} as well, for example in .env (dashboard: Project Settings, API keys).`);
  }
  const problem = problemOf(url);
  if (problem) throw new ImportError(`SUPABASE_URL ${problem}.`);
  return { url: url.replace(/\/+$/, ''), secretKey, remedy: 'Check SUPABASE_URL and the network.' };
}

const retryOptions = { retries: 4, factor: 2, minTimeout: 500, randomize: true };

/** Retries with a growing delay, except after an ImportError. */
export const retry = <T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> =>
  pRetry(attempt, { ...retryOptions, signal, shouldRetry: ({ error }) => !(error instanceof ImportError) });

/** A client and the signal that stops it. */
export interface Connection {
  project: Project;
  client: SupabaseClient;
  signal: AbortSignal;
}

/** Time limit for a running write after the signal, so that the import learns whether the row was written. */
const lastRowMs = 5000;

/**
 * Returns a client that retries, with a growing delay, while the project is unavailable or overloaded. Its requests
 * must be idempotent.
 */
export function connect(project: Project, signal: AbortSignal, retries = retryOptions.retries): Connection {
  const overdue = new AbortController();
  signal.addEventListener('abort', () => setTimeout(() => overdue.abort(signal.reason), lastRowMs).unref());
  const request: typeof fetch = (input, init) => {
    const isFile = String(input).startsWith(`${project.url}/storage/`);
    const ends = { ...init, signal: isFile ? signal : overdue.signal };
    return fetchWithRetries(project, input, ends, retries);
  };
  const client = createClient(project.url, project.secretKey, {
    auth: { persistSession: false, autoRefreshToken: false },
    global: { fetch: request },
  });
  return { project, client, signal };
}

/** Fetches for the client, with retries. @throws ImportError if other requests would fail as well */
async function fetchWithRetries(
  { url, remedy }: Project,
  input: Parameters<typeof fetch>[0],
  init: RequestInit & { signal: AbortSignal },
  retries: number,
): Promise<Response> {
  let answer: Response | undefined;
  const attempt = async () => {
    answer = undefined;
    answer = await fetch(input, init);
    if (isTemporary(answer.status)) throw new Error(`answered ${answer.status}`);
    return answer;
  };
  try {
    answer = await pRetry(attempt, { ...retryOptions, retries, signal: init.signal });
  } catch (error) {
    if (init.signal.aborted) throw error;
    if (!answer) throw new ImportError(`Nothing answers at ${url}. ${remedy}`);
  }
  const sentence = fatalMessage(answer.status, url);
  if (sentence) throw new ImportError(sentence);
  return answer;
}

export const isTemporary = (status: number) => status >= 500 || status === 429;

/** Explains a status that ends the import. Returns undefined for other statuses. */
export function fatalMessage(status: number, url: string): string | undefined {
  if (status === 401)
    return 'SUPABASE_SECRET_KEY is not a secret key of that project. Copy one from the dashboard: Project Settings, API keys.';
  if (status === 402)
    return 'The project has exceeded the quota of its plan. Free some space or upgrade the plan in the dashboard.';
  if (isTemporary(status))
    return `${url} answers with ${status}: the project is paused, full or overloaded. Check it in the dashboard, then run the import again.`;
  return undefined;
}

import { browser } from './browser.ts';
import { errorOf, noAnswer, redirected, SoundsError } from './error.ts';
import { parseJson } from './json.ts';
import type { Service } from './service.ts';
import type { IsAnswer } from './shape.ts';
import { pause, throwIfAborted, unlessAborted, within } from './wait.ts';

const longestPauseMs = 30_000;
/** Time limit of one attempt. A call to Auth takes up to 15 s, of which 4 s in the queue. Exports use exportLimitMs. */
const defaultAttemptLimitMs = 20_000;

/** The reason and the end of a wait before a call is sent again. */
export interface Wait {
  /** `offline`: no network. `limited`: the service requires a pause. `retrying`: no response, or a 5xx. */
  reason: 'offline' | 'limited' | 'retrying';
  until: Date;
}

/** Time limit of every call, and the receivers of its waits and response headers. */
export interface Waiting {
  /** Time limit for all attempts together. A pause that would exceed it does not begin. */
  timeLimitMs: number;
  /** Called when a call waits before it is sent again. */
  onWait?: ((wait: Wait) => void) | undefined;
  /** Follows the headers of each response. */
  service: Service;
}

export type Limits = Waiting & {
  /** True if the request can be sent twice without harm. */
  repeatable: boolean;
  attemptLimitMs?: number;
  /** Tells whether a body is the answer to the request. Undefined for `fetch`, which passes on every kind of body. */
  isAnswer?: IsAnswer;
  /** Called for each failure after which the request is sent again. */
  onRepeat?: (error: SoundsError) => void;
};

/**
 * Sends a request, and repeats it by the rules in docs/apps.md: after Retry-After, or after 1, 2, 4 to 30 s if there is
 * no response of the service or a 5xx. Uses no library, because they need parts of AbortSignal that React Native lacks.
 * @returns a response whose whole body has arrived
 * @throws SoundsError of the last attempt, or the reason of the aborted signal
 */
export async function send(
  request: Request,
  limits: Limits,
  deadline = performance.now() + limits.timeLimitMs,
): Promise<Response> {
  const { repeatable, attemptLimitMs = defaultAttemptLimitMs, onRepeat, onWait } = limits;
  for (let pauseMs = 1_000; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await attempt(request, Math.min(attemptLimitMs, deadline - performance.now()), limits);
    } catch (error) {
      if (!(error instanceof SoundsError) || !isWorthRepeating(error, repeatable)) throw error;
      // Add a random part, so that clients that failed at the same time do not repeat at the same time.
      const waitMs = Math.max(pauseMs, (error.retryAfter ?? 0) * 1_000) + Math.random() * pauseMs;
      if (performance.now() + waitMs > deadline) throw error;
      onRepeat?.(error);
      const reason = reasonToWait(error);
      onWait?.({ reason, until: new Date(Date.now() + waitMs) });
      await pause(waitMs, request.signal, reason !== 'limited');
    }
  }
}

const isWorthRepeating = ({ code, status }: SoundsError, repeatable: boolean) =>
  code === 'rate_limited' || (repeatable && status !== 413 && /no_answer|server_error/.test(code));

function reasonToWait({ code, retryAfter }: SoundsError): Wait['reason'] {
  if (code === 'rate_limited' || retryAfter !== null) return 'limited';
  return browser.navigator?.onLine === false ? 'offline' : 'retrying';
}

async function attempt(request: Request, limitMs: number, limits: Limits): Promise<Response> {
  const { signal } = request;
  throwIfAborted(signal);
  // Use a controller, because React Native lacks AbortSignal.any and AbortSignal.timeout.
  const controller = new AbortController();
  try {
    return await within(limitMs, unlessAborted(exchange(request, limits, controller), signal));
  } catch (error) {
    throwIfAborted(signal);
    throw error instanceof SoundsError ? error : noAnswer(error);
  } finally {
    controller.abort();
  }
}

/** Sends a request once, and receives the whole response. @throws SoundsError if it is not what was asked for */
async function exchange(request: Request, { service, isAnswer }: Limits, { signal }: AbortController) {
  const sentMs = Date.now();
  const response = await fetch(request.clone(), { signal, redirect: redirectOf(request) });
  const text = await response.text();
  throwIfRedirected(request, response);
  const error = isAccepted(request, response, text, isAnswer) ? null : errorOf(response, text);
  if (error?.code !== 'no_answer') service.follow(request, response, sentMs);
  if (error) throw error;
  return new Response(text || null, { status: response.status, headers: response.headers });
}

/** Follows redirects of reads, because browsers tell the new address only then. A write may contain a password. */
const redirectOf = ({ method }: Request) => (/GET|HEAD/.test(method) ? 'follow' : 'manual');

/** Returns a URL without what platforms write differently: case, default port, query and fragment. */
const placeOf = (url: string) =>
  url
    .toLowerCase()
    .replace(/:(80|443)\//, '/')
    .replace(/[?#].*/, '');

/** Rejects a redirect. @throws SoundsError with the new address, if it is known */
function throwIfRedirected(request: Request, { status, type, url, headers, redirected: wasFollowed }: Response) {
  // React Native follows by itself, and has no `redirected`.
  if (wasFollowed ?? (url && placeOf(url) !== placeOf(request.url))) throw redirected(status, url);
  const location = headers.get('Location');
  if (type === 'opaqueredirect' || (location !== null && status >= 300 && status < 400))
    throw redirected(status, location);
}

/** Tells whether a response is an answer of the service, and not of a proxy. */
function isAccepted({ method }: Request, { ok, status, headers }: Response, text: string, isAnswer?: IsAnswer) {
  if (isAnswer) return ok && isAnswer(parseJson(text));
  if (status === 304 || method === 'HEAD') return ok || status === 304;
  const type = headers.get('Content-Type') ?? '';
  return ok && (type.startsWith('application/json') ? parseJson(text) !== null : !type.startsWith('text/html'));
}

import { browser } from './browser.ts';
import { errorOf, noAnswer, SoundsError } from './error.ts';
import type { Service } from './service.ts';
import { pause, throwIfAborted } from './wait.ts';

const longestPauseMs = 30_000;
/** Time limit of one attempt. A call to Auth takes up to 15 s, of which 4 s in the queue. Exports use exportLimitMs. */
const defaultAttemptLimitMs = 20_000;

/** The reason and the end of a wait before a call is sent again. */
export interface Wait {
  /** `offline`: no network. `limited`: the service requires a pause. `retrying`: no response, or a 5xx. */
  reason: 'offline' | 'limited' | 'retrying';
  until: Date;
}

/** Limits and reports of repetitions. */
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
  /** Called for each failure after which the request is sent again. */
  onRepeat?: (error: SoundsError) => void;
};

/**
 * Sends a request, and repeats it as docs/apps.md says: after the Retry-After of a 429, and after 1, 2, 4 … 30 s if
 * there is no response or a 5xx. Uses no library, because they need parts of AbortSignal that React Native lacks.
 * @returns a response of status 2xx whose whole body has arrived
 * @throws SoundsError of the last attempt, or the reason of the aborted signal
 */
export async function send(
  request: Request,
  limits: Limits,
  deadline = performance.now() + limits.timeLimitMs,
): Promise<Response> {
  const { repeatable, attemptLimitMs = defaultAttemptLimitMs, onRepeat, onWait, service } = limits;
  for (let pauseMs = 1_000; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await attempt(request, Math.min(attemptLimitMs, deadline - performance.now()), service);
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

const isWorthRepeating = ({ code }: SoundsError, repeatable: boolean) =>
  code === 'rate_limited' || (repeatable && (code === 'server_error' || code === 'no_answer'));

function reasonToWait({ code }: SoundsError): Wait['reason'] {
  if (code === 'rate_limited') return 'limited';
  return browser.navigator?.onLine === false ? 'offline' : 'retrying';
}

async function attempt(request: Request, limitMs: number, service: Service): Promise<Response> {
  const { signal } = request;
  throwIfAborted(signal);
  // Use a controller, because React Native lacks AbortSignal.any and AbortSignal.timeout.
  const controller = new AbortController();
  const sentMs = Date.now();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, limitMs);
  signal.addEventListener('abort', abort);
  try {
    const response = await fetch(request.clone(), { signal: controller.signal });
    const text = await response.text();
    const isAnswer = response.ok && response.headers.get('Content-Type')?.startsWith('application/json');
    const error = isAnswer ? null : errorOf(response, text);
    if (error?.code !== 'no_answer') service.follow(response.headers, request.headers.has('Authorization'), sentMs);
    if (error) throw error;
    return new Response(text, { status: response.status, headers: response.headers });
  } catch (error) {
    throwIfAborted(signal);
    throw error instanceof SoundsError ? error : noAnswer(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

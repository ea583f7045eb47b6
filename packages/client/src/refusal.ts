import type { CallOptions } from './call.ts';
import { SoundsError } from './error.ts';

/**
 * Tells whether other entries can be sent after an error: the service has answered, and neither the session nor the
 * limit of requests is the reason.
 */
export const canSendOthers = (error: unknown): error is SoundsError =>
  error instanceof SoundsError && !/no_answer|unauthorized|rate_limited/.test(error.code);

/** Tells whether the service or a proxy takes only smaller requests. */
export const isTooLarge = (error: unknown) => (error as SoundsError).status === 413;

/** Tells whether the service rejects an entry itself. @param field field of the request that contains the entries */
export const isRefusal = (error: unknown, field: string): error is SoundsError => {
  const { reason, field: wrong } = error as SoundsError;
  return reason === 'too_large' || (reason === 'validation' && wrong === field);
};

/**
 * Creates `flush` of an outbox, and `refuse`, which receives the error of an entry that the service has rejected. The
 * next `flush` throws the first of these errors, after it has sent the rest.
 */
export function createFlush<Options extends CallOptions>(send: (options?: Options) => Promise<void>) {
  let refusal: SoundsError | undefined;
  return {
    refuse(error: SoundsError) {
      refusal ??= error;
    },
    async flush(options?: Options): Promise<void> {
      await send(options);
      const thrown = refusal;
      refusal = undefined;
      if (thrown) throw thrown;
    },
  };
}

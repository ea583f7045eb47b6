import type { CallOptions } from './call.ts';
import type { SoundsError } from './error.ts';

/**
 * Tells whether other entries can be sent after an error: the service has answered, and neither the session nor the
 * limit of requests is the reason.
 */
export const canGoOn = ({ code }: SoundsError) => !/no_answer|unauthorized|rate_limited/.test(code);

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

import type { EmailDriver, EmailMessage } from '@supabase/lite';
import type { Handler } from 'hono';

const KEPT = 1000;

/** Logs Auth's mails and keeps the last 1,000, which can be searched as in Mailpit, the mailbox of `supabase start`. */
export class Mailbox implements EmailDriver {
  readonly #mails: { to: string; Subject: string; Snippet: string }[] = [];
  readonly #log: (line: string) => void;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  send({ to, subject, html = '' }: EmailMessage): Promise<void> {
    const text = html
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim();
    this.#mails.unshift({ to, Subject: subject, Snippet: text.slice(0, 250) });
    this.#mails.length = Math.min(this.#mails.length, KEPT);
    this.#log(`Mail to ${to}: ${subject}, code ${/\b\d{6,10}\b/.exec(text)?.[0] ?? 'missing'}`);
    return Promise.resolve();
  }

  /** `GET /api/v1/search?query=to:<address>` returns the mails to an address, newest first. */
  readonly search: Handler = (c) => {
    const [, address] = /^to:"?([^"\s]+)"?$/.exec(c.req.query('query') ?? '') ?? [];
    if (!address) return c.text('The query is missing. Request ?query=to:<e-mail address>', 400);
    const messages = this.#mails.filter(({ to }) => to === address.toLowerCase());
    return c.json({ messages_count: messages.length, messages });
  };
}

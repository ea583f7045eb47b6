import { randomUUID } from 'node:crypto';
import type { EmailDriver, EmailMessage } from '@supabase/lite';
import type { Handler } from 'hono';

interface Mail {
  id: string;
  to: string;
  subject: string;
  text: string;
  sentAt: number;
}

const KEPT = 1000;

/**
 * Where Auth's mails go: one line each for the terminal, and the last thousand for whoever looks them up, by the same
 * address and in the same shape as with Mailpit, the mail viewer of `supabase start`.
 */
export class Mailbox implements EmailDriver {
  readonly #mails: Mail[] = [];
  readonly #log: (line: string) => void;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  send({ to, subject, html = '' }: EmailMessage): Promise<void> {
    const text = html
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim();
    this.#mails.unshift({ id: randomUUID(), to, subject, text, sentAt: Date.now() });
    this.#mails.length = Math.min(this.#mails.length, KEPT);
    this.#log(`Mail to ${to}: ${subject}, code ${/\b\d{6,10}\b/.exec(text)?.[0] ?? 'missing'}`);
    return Promise.resolve();
  }

  /** `GET /api/v1/search?query=to:<address>`: the mails to an address, the newest first. */
  readonly search: Handler = (c) => {
    const [, address] = /^to:"?([^"\s]+)"?$/.exec(c.req.query('query') ?? '') ?? [];
    if (!address) return c.text('Ask for ?query=to:<e-mail address>', 400);
    const messages = this.#mails
      .filter(({ to }) => to === address.toLowerCase())
      .map(({ id, to, subject, text, sentAt }) => ({
        ID: id,
        To: [{ Name: '', Address: to }],
        Subject: subject,
        Created: new Date(sentAt).toISOString(),
        Snippet: text.slice(0, 250),
      }));
    return c.json({ messages_count: messages.length, messages });
  };
}

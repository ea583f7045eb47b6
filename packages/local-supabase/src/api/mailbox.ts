import type { EmailDriver } from '@supabase/lite';
import type { Handler } from 'hono';

const keptMails = 1000;

export interface Mailbox extends EmailDriver {
  /** `GET /api/v1/search?query=to:<address>` returns the mails to an address, newest first. */
  search: Handler;
}

/**
 * Makes a mailbox for Auth that logs the mails and keeps the last 1,000. They can be searched as in Mailpit, the
 * mailbox of `supabase start`.
 */
export function createMailbox(log: (line: string) => void): Mailbox {
  const mails: { to: string; Subject: string; Snippet: string }[] = [];
  return {
    send({ to, subject, html = '' }) {
      const text = html
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim();
      mails.unshift({ to, Subject: subject, Snippet: text.slice(0, 250) });
      mails.length = Math.min(mails.length, keptMails);
      log(`Mail to ${to}: ${subject}, code ${/\b\d{6,10}\b/.exec(text)?.[0] ?? 'missing'}`);
      return Promise.resolve();
    },
    search(c) {
      const [, address] = /^to:"?([^"\s]+)"?$/.exec(c.req.query('query') ?? '') ?? [];
      if (!address) return c.text('The query is missing. Request ?query=to:<e-mail address>', 400);
      const messages = mails.filter(({ to }) => to === address.toLowerCase());
      return c.json({ messages_count: messages.length, messages });
    },
  };
}

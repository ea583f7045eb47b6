import { expect } from 'vitest';

type Found = { messages: { Snippet: string }[] };

/** The mails that an address got, the newest first, as text; looked up as Mailpit lets one do. */
export async function mailsTo(mailUrl: string, email: string): Promise<string[]> {
  const query = new URLSearchParams({ query: `to:${email}` });
  const response = await fetch(`${mailUrl}/api/v1/search?${query}`);
  const { messages } = (await response.json()) as Found;
  return messages.map(({ Snippet }) => Snippet);
}

/** The code in the newest mail to an address. */
export async function codeSentTo(mailUrl: string, email: string): Promise<string> {
  const [newest] = await mailsTo(mailUrl, email);
  const code = /\b\d{6,10}\b/.exec(newest ?? '')?.[0];
  expect(code, `the code of the mail to ${email}: ${newest}`).toBeDefined();
  return code ?? '';
}

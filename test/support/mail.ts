import { expect } from 'vitest';

type Found = { messages: { Snippet: string }[] };

/** The mails that an address got, the newest first, as text; looked up as Mailpit lets one do. */
export async function mailsTo(mailUrl: string, email: string): Promise<string[]> {
  const query = new URLSearchParams({ query: `to:${email}` });
  const response = await fetch(`${mailUrl}/api/v1/search?${query}`);
  const { messages } = (await response.json()) as Found;
  return messages.map(({ Snippet }) => Snippet);
}

/** The code in the newest mail to an address. Waits for the first: a slow mail goes on behind the answer to its request. */
export async function codeSentTo(mailUrl: string, email: string): Promise<string> {
  let code = '';
  const found = async () => {
    const [newest = ''] = await mailsTo(mailUrl, email);
    code = /\b\d{6,10}\b/.exec(newest)?.[0] ?? '';
    return code;
  };
  await expect.poll(found, { message: `the code of the mail to ${email}` }).not.toBe('');
  return code;
}

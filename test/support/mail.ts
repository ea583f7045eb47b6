import { expect } from 'vitest';

/** Returns the mails to an address as text, newest first, from the search of Mailpit. */
export async function mailsTo(mailUrl: string, email: string): Promise<string[]> {
  const response = await fetch(`${mailUrl}/api/v1/search?query=${encodeURIComponent(`to:${email}`)}`);
  const { messages } = (await response.json()) as { messages: { Snippet: string }[] };
  return messages.map(({ Snippet }) => Snippet);
}

/**
 * Returns the code in the newest mail to an address. Waits for it, because a slow mail is sent after the response.
 * @param mails expected number of mails
 */
export async function codeSentTo(mailUrl: string, email: string, mails = 1): Promise<string> {
  let code = '';
  const find = async () => {
    const all = await mailsTo(mailUrl, email);
    code = (all.length >= mails && /\b\d{6,10}\b/.exec(all[0] ?? '')?.[0]) || '';
    return code;
  };
  await expect.poll(find, { message: `the code of the mail to ${email}` }).not.toBe('');
  return code;
}

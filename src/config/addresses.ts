import { z } from 'zod';

// Validates the addresses in settings. Errors suggest the right address, which can be derived from most wrong ones.

/** Returns the API address of a hosted project, given the address of its dashboard or database. */
function hostedAddress(value: string): string | undefined {
  const [, ref] =
    /^https?:\/\/(?:app\.)?supabase\.(?:com|io)\/(?:dashboard\/)?project\/([a-z0-9]+)/i.exec(value) ??
    /^[a-z]+:\/\/(?:[^/@]*@)?db\.([a-z0-9]+)\.supabase\.co(?![\w.-])/i.exec(value) ??
    /^[a-z]+:\/\/\w+\.([a-z0-9]+)(?::[^/@]*)?@[\w.-]+\.pooler\.supabase\.com(?![\w.-])/i.exec(value) ??
    /^https?:\/\/([a-z0-9-]+)\.supabase\.co(?![\w.-])/i.exec(value) ??
    [];
  return ref && `https://${ref.toLowerCase()}.supabase.co`;
}

/** Address of a Supabase project, or of a proxy in front of it. */
export const projectAddress = z
  .string({ error: 'must be an address such as https://abcd.supabase.co' })
  .transform((value) => (URL.canParse(value) ? new URL(value).href.replace(/\/+$/, '') : value))
  .superRefine((value, { addIssue }) => {
    const hosted = hostedAddress(value);
    if (hosted && hosted !== value) addIssue(`must be the address of the data API: ${hosted}`);
    else if (!/^https?:\/\//.test(value) || /^https?:\/\/(?:[^/]*\.)?supabase\.(?:com|io)\b/.test(value))
      addIssue('must be an address such as https://abcd.supabase.co');
    else if (/\/(auth|rest|storage|functions|realtime|graphql)\/v1$/.test(value))
      addIssue('must be the address of the project without a path such as /rest/v1');
  });

/** Matches the setting for any port of this machine, for development. */
const anyPort = /^http:\/\/(?:localhost|127\.0\.0\.1):\*$/;

/** Returns the form in which browsers and web views send an origin, or undefined if the value has no host. */
function originOf(value: string): string | undefined {
  const url = URL.parse(value);
  if (!url?.host) return undefined;
  // Schemes of apps, such as capacitor: and tauri:, have the origin "null" in the URL standard.
  return url.origin === 'null' ? `${url.protocol}//${url.host}`.toLowerCase() : url.origin;
}

/** Origin that may call from a browser or a web view. */
export const origin = z.string().superRefine((value, { addIssue }) => {
  if (anyPort.test(value)) return;
  const expected = originOf(value);
  if (value.includes('*') && value !== '*') addIssue(`must name each origin, because "*" in ${value} matches nothing`);
  else if (expected === undefined)
    addIssue('must be a comma-separated list of origins such as https://app.example.com');
  else if (value !== expected) addIssue(`must contain ${expected} instead of ${value}`);
});

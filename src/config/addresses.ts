import { z } from 'zod';

/** Matches a page of the dashboard, and captures the id of the project. */
const dashboard = /^https?:\/\/(?:app\.)?supabase\.(?:com|io)\/(?:dashboard\/)?project\/([a-z0-9]+)/i;

/** Matches the address of a hosted project. */
const project = /^https:\/\/[a-z0-9-]+\.supabase\.co$/;

/** Returns why a value is not the address of a project, without repeating the value, which may have a password. */
function problemOf(value: string): string | undefined {
  const ref = dashboard.exec(value)?.[1];
  if (ref) return `must be the address of the data API: https://${ref.toLowerCase()}.supabase.co`;
  const url = URL.parse(value);
  if (!url) return 'must be an address such as https://abcd.supabase.co';
  if (url.username || url.password) return 'must not contain a user or a password';
  if (/[?#]/.test(value)) return 'must not contain a query or a fragment';
  const isHosted = /(^|\.)supabase\.(co|com|io)$/.test(url.hostname);
  if (!/^https?:$/.test(url.protocol) || (isHosted && !project.test(value)))
    return 'must be an address such as https://abcd.supabase.co';
  if (/\/(auth|rest|storage|functions|realtime|graphql)\/v1$/.test(value))
    return 'must be the address of the project without a path such as /rest/v1';
  return undefined;
}

/** Address of a Supabase project, or of a proxy in front of it. */
export const projectAddress = z
  .string({ error: 'must be an address such as https://abcd.supabase.co' })
  .transform((value) => (URL.canParse(value) ? new URL(value).href.replace(/\/+$/, '') : value))
  .superRefine((value, { addIssue }) => {
    const problem = problemOf(value);
    if (problem) addIssue(problem);
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

/** Origin that may call from a browser or a web view. Problems never repeat a user, a password or a query. */
export const origin = z.string().superRefine((value, { addIssue }) => {
  if (anyPort.test(value)) return;
  if (value.includes('@')) return addIssue('must not contain a user or a password');
  const expected = originOf(value);
  if (value.includes('*') && value !== '*') addIssue(`must name each origin, because "*" in ${value} matches nothing`);
  else if (expected === undefined)
    addIssue('must be a comma-separated list of origins such as https://app.example.com');
  else if (value !== expected) addIssue(`must contain ${expected} instead of ${value.replace(/[?#].*/s, '')}`);
});

const browser = /mozilla|webkit|gecko|chrom|safari|firefox|opera|\bopr|\bedg|msie|trident/i;

/**
 * Returns the User-Agent for Auth, which stores it with the session: that of the app, cut to 200 visible characters.
 * Returns only the platform of a browser, because Supabase rejects a secret key with a browser's User-Agent.
 */
export function userAgentFor(sent = ''): string {
  const visible = sent.replace(/[^!-~]+/g, ' ').trim();
  if (!browser.test(visible)) return visible.slice(0, 200) || 'sounds-service';
  const platform = /\(([^()]*)/.exec(visible)?.[1] ?? '';
  return platform === '' || browser.test(platform) ? 'Web' : `Web (${platform.slice(0, 190)})`;
}

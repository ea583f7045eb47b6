const browser = /mozilla|webkit|gecko|chrom|safari|firefox|opera|\bopr|\bedg|msie|trident/i;

/**
 * Returns the User-Agent for Auth, which stores it with the session: that of the app, cut to 200 visible characters. Of
 * a browser it contains only the platform, because Supabase rejects a secret key from what looks like a browser.
 */
export function userAgentFor(sent = ''): string {
  const visible = sent.replace(/[^!-~]+/g, ' ').trim();
  if (!browser.test(visible)) return visible.slice(0, 200) || 'sounds-service';
  const platform = /\(([^()]*)/.exec(visible)?.[1] ?? '';
  return platform === '' || browser.test(platform) ? 'Web' : `Web (${platform.slice(0, 190)})`;
}

const browser = /mozilla|webkit|gecko|chrom|safari|firefox|opera|\bopr|\bedg|msie|trident/i;

/** Returns the app's User-Agent, or the platform of a browser, because Supabase rejects a secret key from browsers. */
export function userAgentFor(sent = ''): string {
  const visible = sent.replace(/[^!-~]+/g, ' ').trim();
  if (!browser.test(visible)) return visible.slice(0, 200) || 'sounds-service';
  const platform = /\(([^()]*)/.exec(visible)?.[1] ?? '';
  return platform === '' || browser.test(platform) ? 'Web' : `Web (${platform.slice(0, 190)})`;
}

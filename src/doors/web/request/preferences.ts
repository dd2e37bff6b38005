/** Preferences of a browser, stored in a cookie: they apply to everybody who uses it, also before sign-in. */
import { readCookie } from '../../../platform/http/cookies.ts';

export const preferencesCookie = '_service_preferences';

export const schemes = ['system', 'light', 'dark'] as const;

export type Preferences = {
  scheme: (typeof schemes)[number];
  /** Whether single keys are shortcuts. */
  hasShortcuts: boolean;
};

/** Reads the cookie: `dark`, `dark.nokeys`. Missing parts take their defaults. */
export const readPreferences = (header: string | undefined): Preferences => {
  const words = new Set(readCookie(header, preferencesCookie)?.split('.'));
  return {
    scheme: schemes.find((one) => words.has(one)) ?? 'system',
    hasShortcuts: !words.has('nokeys'),
  };
};

export const writePreferences = ({ scheme, hasShortcuts }: Preferences): string =>
  hasShortcuts ? scheme : `${scheme}.nokeys`;

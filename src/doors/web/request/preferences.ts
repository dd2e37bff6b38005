/** What a browser prefers, kept in a cookie of its own: for all who use it, also before they sign in. */
import { readCookie } from '../../../platform/http/cookies.ts';

export const preferencesCookie = '_service_preferences';

export const schemes = ['system', 'light', 'dark'] as const;

export type Preferences = {
  scheme: (typeof schemes)[number];
  /** Whether single keys are shortcuts. */
  hasShortcuts: boolean;
};

/** Reads the cookie: `dark`, `dark.nokeys`. What it does not say is as by default. */
export const readPreferences = (header: string | undefined): Preferences => {
  const words = new Set(readCookie(header, preferencesCookie)?.split('.'));
  return {
    scheme: schemes.find((one) => words.has(one)) ?? 'system',
    hasShortcuts: !words.has('nokeys'),
  };
};

export const writePreferences = ({ scheme, hasShortcuts }: Preferences): string =>
  hasShortcuts ? scheme : `${scheme}.nokeys`;

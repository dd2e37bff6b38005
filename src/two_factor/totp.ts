/** Time-based one-time passwords (RFC 6238): six digits, 30 seconds, SHA-1, as every authenticator reads them. */
const period = 30;
/** Steps that a clock may be ahead or behind. */
const drift = 1;

/** Loaded with the first code; before a transaction, which waits for nothing but the database. */
export const loadTotp = async () => await import('otpauth');

export type Totp = Awaited<ReturnType<typeof loadTotp>>;

/** 160 random bits, in base32. */
export const newKey = ({ Secret }: Totp): string => new Secret({ size: 20 }).base32;

/** `otpauth://...`, for the code that a telephone reads. @param issuer the host of the service */
export const keyUri = ({ TOTP }: Totp, key: string, issuer: string, username: string): string =>
  new TOTP({ issuer, label: username, secret: key, period }).toString();

type Given = { key: string; code: string; now: number; lastStep: number };

/**
 * The step to which a code belongs; null: to none near now. Of a step that was used, or of one before it, no code is
 * good again.
 */
export const stepOf = ({ TOTP }: Totp, { key, code, now, lastStep }: Given): number | null => {
  const token = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return null;
  const delta = new TOTP({ secret: key, period }).validate({ token, timestamp: now, window: drift });
  if (delta === null) return null;
  const step = Math.floor(now / 1000 / period) + delta;
  return step > lastStep ? step : null;
};

/** Time-based one-time passwords (RFC 6238): six digits, 30 seconds, SHA-1, as every authenticator supports. */
const period = 30;
/** Number of steps that a clock may be ahead or behind. */
const drift = 1;

/** Loads the library on first use. Call it before a transaction, which must wait for nothing but the database. */
export const loadTotp = async () => await import('otpauth');

export type Totp = Awaited<ReturnType<typeof loadTotp>>;

/** Generates 160 random bits in base32. */
export const newKey = ({ Secret }: Totp): string => new Secret({ size: 20 }).base32;

/** Returns the `otpauth://...` URI of the QR code. @param issuer the host of the service */
export const keyUri = ({ TOTP }: Totp, key: string, issuer: string, username: string): string =>
  new TOTP({ issuer, label: username, secret: key, period }).toString();

type CodeInput = { key: string; code: string; now: number; lastStep: number };

/** Returns the time step of a code; null: it matches no step near now. Steps up to the last used one are refused. */
export const findStep = ({ TOTP }: Totp, { key, code, now, lastStep }: CodeInput): number | null => {
  const token = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return null;
  const delta = new TOTP({ secret: key, period }).validate({ token, timestamp: now, window: drift });
  if (delta === null) return null;
  const step = Math.floor(now / 1000 / period) + delta;
  return step > lastStep ? step : null;
};

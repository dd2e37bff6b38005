/** Calls the API as root to set up measurements. */
import { rootToken } from '../service.ts';

export const base = (port: number): string => `http://127.0.0.1:${port}`;

/**
 * @param line `POST /projects`
 * @throws Error unless it was done
 */
export const api = async <T>(port: number, line: string, body?: object): Promise<T> => {
  const [method = '', path = ''] = line.split(' ');
  const response = await fetch(`${base(port)}/api/v4${path}`, {
    method,
    headers: { 'private-token': rootToken, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${line}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
};

/** Where records are: the path below which an endpoint finds one, and the parameters that lead there. */
import assert from 'node:assert/strict';
import type { TestService } from '../support/service.ts';

export type Place = { at: string; params: Record<string, unknown> };

// oxlint-disable-next-line typescript/no-explicit-any -- a record of the API
type Made = any;

export type Make = {
  /** Makes a record at a path, and notes its place: `name` tells which of its parameters is which of its fields. */
  (at: string, params: Place['params'], json: object, name: Record<string, string>): Promise<Made>;
  place: (at: string, params: Place['params']) => void;
};

const filled = (path: string, params: Place['params']): string =>
  path.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(String(params[name])));

export const maker = (gantry: TestService, places: Place[]): Make => {
  const place: Make['place'] = (at, params) => void places.push({ at, params });
  const make = async (at: string, params: Place['params'], json: object, name: Record<string, string>) => {
    const { status, body, text } = await gantry.api(`POST ${filled(at, params)}`, { json });
    assert.equal(status, 201, `${at}: ${text}`);
    const own = Object.entries(name).map(([param, field]) => [param, body[field]]);
    place([at, ...own.slice(0, 1).map(([param]) => `:${param}`)].join('/'), {
      ...params,
      ...Object.fromEntries(own),
    });
    return body;
  };
  return Object.assign(make, { place });
};

/** The places that fit best: of the records that a path names, or of what is above them. */
export const placesOf = (path: string, places: readonly Place[]): Place['params'][] => {
  const fitting = places.filter(
    ({ at }) => path === at || path.startsWith(`${at}/`) || path.startsWith(`${at}.`),
  );
  const deepest = Math.max(0, ...fitting.map(({ at }) => at.length));
  return fitting.filter(({ at }) => at.length === deepest).map(({ params }) => params);
};

/** No parameter of a served route is dropped silently: each is kept, refused, or named as ignored. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TProperties, TSchema } from 'typebox';
import { Failure } from '../../src/platform/errors.ts';
import { ignoredParams } from '../../src/platform/http/parameters/ignored_params.ts';
import { paramsReader } from '../../src/platform/http/params.ts';
import { object } from '../../src/platform/http/schema.ts';
import { endpoints } from '../../src/app/routes.ts';
import {
  type ClientParameter,
  clientParameters,
  clientParametersText,
  readFacts,
} from '../golden/client_parameters.ts';

const parameters = clientParameters(endpoints);
const treated = (treatment: ClientParameter['treatment']) =>
  parameters.filter((parameter) => parameter.treatment === treatment);

describe('the parameters that API clients can send', () => {
  it('more than 200 requests have recorded parameters', () => {
    const requests = new Set(parameters.map(({ request }) => request));
    assert.ok(requests.size > 200, String(requests.size));
    assert.ok(treated('acts').length > 1000, String(treated('acts').length));
  });

  it('are recorded by whole paths, so that a route finds them', () => {
    const unfound = [...readFacts().keys()].filter((request) => !/^[A-Z]+ \/[\w.-]+/.test(request));
    assert.deepEqual(unfound, []);
  });

  it('are named in the header if they are ignored', () => {
    for (const { endpoint, request, name } of treated('ignored')) {
      const [, top = name, part] = /^([^[]+)\[([^\]]+)\]$/.exec(name) ?? [];
      const sent = { [top]: part === undefined ? 'x' : { [part]: 'x' } };
      assert.equal(ignoredParams(endpoint.params)(sent), name, request);
    }
  });

  it('are refused if a filter is not supported', () => {
    for (const { endpoint, request, name } of treated('refused')) {
      const [, top = name, part] = /^([^[]+)\[([^\]]+)\]$/.exec(name) ?? [];
      const declared = endpoint.params.properties[top] as TSchema & { properties?: TProperties };
      const property = part === undefined ? declared : declared.properties?.[part];
      assert.ok(property, `${request} ${name}`);
      const read = paramsReader(object({ [name]: property }));
      assert.throws(() => read({ [name]: 'narrows' }), Failure, `${request} ${name}`);
    }
  });

  it('fail this check if one is neither declared nor explained', () => {
    const [issues] = endpoints.filter(({ method, path }) => `${method} ${path}` === 'GET /issues');
    assert.ok(issues);
    const { labels: _labels, ...others } = issues.params.properties;
    assert.throws(
      () => clientParametersText([{ ...issues, params: object(others) }]),
      /dropped silently.*GET \/issues {2}labels \(gpb\)/s,
    );
  });
});

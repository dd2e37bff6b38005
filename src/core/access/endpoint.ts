import type { TObject } from 'typebox';
import type { AnyEndpoint, Endpoint } from '../../platform/http/endpoint.ts';
import type { Call } from './call.ts';

/** Declares an endpoint and infers its handler's parameter types from the declared parameters. */
export const endpoint = <P extends TObject>(declared: Endpoint<Call, P>): AnyEndpoint<Call> => declared;

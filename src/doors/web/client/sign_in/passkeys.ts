/** Makes passkeys and signs in with them: asks the browser, and sends its answer by the form around. */
import { showProblem } from '../show_problem.ts';

const isPossible = (): boolean =>
  typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;

type Area = { element: HTMLElement; form: HTMLFormElement; options: unknown };

const send = ({ form }: Area, credential: Credential | null): void => {
  const field = form.elements.namedItem('passkey');
  if (!(field instanceof HTMLInputElement) || !(credential instanceof PublicKeyCredential)) return;
  field.value = JSON.stringify(credential.toJSON());
  form.submit();
};

/** The browser's offer of passkeys in the field of the user name, which a press of the button ends. */
let offer = new AbortController();

const ask = async (area: Area): Promise<Credential | null> => {
  offer.abort();
  if (area.element.dataset['passkey'] === 'create') {
    const json = area.options as PublicKeyCredentialCreationOptionsJSON;
    return await navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(json),
    });
  }
  const json = area.options as PublicKeyCredentialRequestOptionsJSON;
  return await navigator.credentials.get({
    publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(json),
  });
};

const problemOf = (error: unknown): string => {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'InvalidStateError') return 'This device already has a passkey for the account.';
  return 'No passkey was used: the browser was not allowed to, or took too long.';
};

const offerInField = async (area: Area): Promise<void> => {
  if (!(await PublicKeyCredential.isConditionalMediationAvailable())) return;
  offer = new AbortController();
  const json = area.options as PublicKeyCredentialRequestOptionsJSON;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(json);
  try {
    const { signal } = offer;
    send(area, await navigator.credentials.get({ publicKey, mediation: 'conditional', signal }));
  } catch {
    // Ended by the button, or refused: the form is still there.
  }
};

const start = (element: HTMLElement): void => {
  const form = element.querySelector('form');
  if (form === null) return;
  const area = { element, form, options: JSON.parse(element.dataset['options'] ?? '{}') as unknown };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    ask(area).then(
      (credential) => send(area, credential),
      (error: unknown) => showProblem(element, null, problemOf(error)),
    );
  });
  element.hidden = false;
  // Not repeated after a refusal, because a device that answers automatically would repeat it endlessly.
  const isRefused = document.querySelector('.flash.alert') !== null;
  if (element.dataset['passkey'] === 'get' && !isRefused) void offerInField(area);
};

export const startPasskeys = (): void => {
  if (!isPossible()) return;
  for (const element of document.querySelectorAll<HTMLElement>('[data-passkey]')) start(element);
};

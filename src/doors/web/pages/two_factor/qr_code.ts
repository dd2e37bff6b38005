/** Renders a QR code as inline SVG, without another service. */
import { type Html, trusted } from '../../parts/html.ts';

export const qrCode = async (text: string): Promise<Html> => {
  const { renderSVG } = await import('uqr');
  // Built from numbers only; we add the size.
  return trusted(
    renderSVG(text, { border: 2 }).replace(
      '<svg ',
      '<svg class="qr" role="img" aria-label="QR code of the key" ',
    ),
  );
};

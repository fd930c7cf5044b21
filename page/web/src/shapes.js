// The marks of cloud pairs, as package charts draws them: the colour is in the
// style sheet under the same number.
export const shapes = [
  {symbol: 'circle', turn: 0},
  {symbol: 'triangle', turn: 0},
  {symbol: 'triangle', turn: 180},
  {symbol: 'rect', turn: 0},
  {symbol: 'diamond', turn: 0},
  {symbol: 'path://M0,-1L0.95,-0.31L0.59,0.81L-0.59,0.81L-0.95,-0.31Z', turn: 0},
  {symbol: 'path://M0.87,0.5L0,1L-0.87,0.5L-0.87,-0.5L0,-1L0.87,-0.5Z', turn: 0},
  {symbol: 'path://M0,1L0.95,0.31L0.59,-0.81L-0.59,-0.81L-0.95,0.31Z', turn: 0},
  {symbol: 'triangle', turn: 270},
];
shapes.cross = 'path://M-1,-1L1,1M-1,1L1,-1';

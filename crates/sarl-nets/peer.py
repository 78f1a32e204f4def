"""The training of `a_training_goes_as_in_pytorch` in `src/tests.rs`, by PyTorch: prints its constants."""

import torch


def grid(rows, columns, scale):
    values = [scale * (((i * 7 + 3) % 11) / 5 - 1) for i in range(rows * columns)]
    return torch.tensor(values, dtype=torch.float64).reshape(rows, columns)


first, second = torch.nn.Linear(3, 4).double(), torch.nn.Linear(4, 2).double()
norm = torch.nn.BatchNorm1d(2).double()
with torch.no_grad():
    first.weight.copy_(grid(3, 4, 0.9).T)
    first.bias.copy_(grid(1, 4, 0.1)[0])
    second.weight.copy_(grid(4, 2, 0.7).T)
    second.bias.copy_(grid(1, 2, 0.2)[0])
net = torch.nn.Sequential(first, torch.nn.ReLU(), second, norm)
x, classes = grid(6, 3, 1.3), torch.tensor([0, 1, 1, 0, 1, 0])
optimiser = torch.optim.AdamW(net.parameters(), eps=1e-5, weight_decay=0.1)
# Ours takes the variance that divides by n into the running one, PyTorch's the one that divides by n - 1.
running = torch.zeros(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
losses = []
for step in range(20):
    with torch.no_grad():
        told = net[:3](x)
        batch = told.mean(0), told.var(0, unbiased=False)
        running = tuple(0.9 * old + 0.1 * new for old, new in zip(running, batch, strict=True))
    optimiser.param_groups[0]["lr"] = 0.05 / (1 + step)
    optimiser.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), classes)
    losses.append(loss.item())
    loss.backward()
    for parameter in net.parameters():
        torch.nn.utils.clip_grad_norm_([parameter], 0.25)
    optimiser.step()
norm.running_mean.copy_(running[0])
norm.running_var.copy_(running[1])
net.eval()
print("LOSSES", [round(v, 7) for v in losses[:3]])
print("TOLD", [round(v, 7) for v in net(x).flatten().tolist()])

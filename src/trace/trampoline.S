/* Calls of traced functions (x86-64, System V ABI).

   The program calls a stub in the place of a function. The trampoline behind all stubs asks
   headrace_trace_enter what to do. A call that is traced becomes a call of the function, with a
   copy of the arguments on the stack, so that the function's frame lies behind an ordinary frame
   that debuggers, samplers and exceptions can unwind. The dynamic linker's auditors get their
   frames in the same way (la_x86_64_gnu_pltenter of glibc).

   All registers are as they would be without the trampoline, those that calls may change included:
   compilers know of local functions which ones they change (-fipa-ra). Registers of vectors are
   not touched, but for what runs between SAVE_VECTORS and RESTORE_VECTORS. */

#if defined(__x86_64__)

#define STUBS 2048

/* Offsets in TraceFrame (frame.h), which lies at the stack pointer, FRAME bytes below rbp. The 8
   bytes that are left align the stack. */
#define FRAME 120
#define RAX 0
#define RCX 8
#define RDX 16
#define RSI 24
#define RDI 32
#define R8 40
#define R9 48
#define R10 56
#define R11 64
#define FUNCTION 72
#define TARGET 80
#define COPIED 88
#define RETURN_SLOT 96
#define ANSWER 104
#define AT(field) (field - FRAME)(%rbp)

/* State components that XSAVE keeps: x87, SSE, AVX, and the three of AVX-512. Their area ends
   before XSAVE_SIZE (Intel's manual, volume 1, chapter 13; AMD's places them lower). */
#define XSAVE_MASK 0xe7
#define XSAVE_SIZE 2752

.macro SAVE_REGISTERS
  movq %rax, AT(RAX)
  movq %rcx, AT(RCX)
  movq %rdx, AT(RDX)
  movq %rsi, AT(RSI)
  movq %rdi, AT(RDI)
  movq %r8, AT(R8)
  movq %r9, AT(R9)
  movq %r10, AT(R10)
  movq %r11, AT(R11)
.endm

.macro RESTORE_REGISTERS
  movq AT(RAX), %rax
  movq AT(RCX), %rcx
  movq AT(RDX), %rdx
  movq AT(RSI), %rsi
  movq AT(RDI), %rdi
  movq AT(R8), %r8
  movq AT(R9), %r9
  movq AT(R10), %r10
  movq AT(R11), %r11
.endm

/* Moves the stack pointer; the frame is found by rbp. XRSTOR wants zeros in the header. */
.macro SAVE_VECTORS
  subq $XSAVE_SIZE, %rsp
  andq $-64, %rsp
  xorl %eax, %eax
  movq %rax, 512(%rsp)
  movq %rax, 520(%rsp)
  movq %rax, 528(%rsp)
  movq %rax, 536(%rsp)
  movq %rax, 544(%rsp)
  movq %rax, 552(%rsp)
  movq %rax, 560(%rsp)
  movq %rax, 568(%rsp)
  movl $XSAVE_MASK, %eax
  xorl %edx, %edx
  xsave64 (%rsp)
.endm

.macro RESTORE_VECTORS
  movl $XSAVE_MASK, %eax
  xorl %edx, %edx
  xrstor64 (%rsp)
  leaq -FRAME(%rbp), %rsp
.endm

  .text
  .p2align 6
  .globl headrace_trace_stubs
  .hidden headrace_trace_stubs
  .type headrace_trace_stubs, @function
headrace_trace_stubs:
  .cfi_startproc
  .set number, 0
  .rept STUBS
  .p2align 4
  endbr64
  pushq $number
  .cfi_adjust_cfa_offset 8
  jmp trampoline
  .cfi_adjust_cfa_offset -8
  .set number, number + 1
  .endr
  .p2align 4
  .cfi_endproc
  .size headrace_trace_stubs, . - headrace_trace_stubs

  .p2align 6
  .type trampoline, @function
trampoline:
  .cfi_startproc
  .cfi_personality 0x1b, headrace_trace_unwound
  .cfi_def_cfa_offset 16
  pushq %rbp
  .cfi_def_cfa_offset 24
  .cfi_offset %rbp, -24
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $FRAME, %rsp
  SAVE_REGISTERS
  movq 8(%rbp), %rax
  movq %rax, AT(FUNCTION)
  leaq 16(%rbp), %rax
  movq %rax, AT(RETURN_SLOT)
  movq %rsp, %rdi
  call headrace_trace_enter
  cmpl $1, %eax
  je .Ltrace
  ja .Llearn

.Lpass:
  movq AT(TARGET), %rax
  movq %rax, 8(%rbp)
  RESTORE_REGISTERS
  movq %rbp, %rsp
  .cfi_remember_state
  popq %rbp
  .cfi_def_cfa %rsp, 16
  .cfi_restore %rbp
  leaq 8(%rsp), %rsp
  .cfi_def_cfa_offset 8
  jmp *-8(%rsp)
  .cfi_restore_state

.Ltrace:
  movq AT(COPIED), %rcx
  subq %rcx, %rsp
  leaq 24(%rbp), %rsi
  movq %rsp, %rdi
  shrq $3, %rcx
  rep movsq
  RESTORE_REGISTERS
  call *AT(TARGET)
  .globl headrace_trace_returned
  .hidden headrace_trace_returned
headrace_trace_returned:
  leaq -FRAME(%rbp), %rsp
  SAVE_REGISTERS
  movq %rsp, %rdi
  call headrace_trace_leave
  testl %eax, %eax
  jz .Lleave_slowly
.Lreturn:
  RESTORE_REGISTERS
  movq %rbp, %rsp
  .cfi_remember_state
  popq %rbp
  .cfi_def_cfa %rsp, 16
  .cfi_restore %rbp
  leaq 8(%rsp), %rsp
  .cfi_def_cfa_offset 8
  ret
  .cfi_restore_state

.Llearn:
  SAVE_VECTORS
  leaq -FRAME(%rbp), %rdi
  call headrace_trace_learn
  movl %eax, AT(ANSWER)
  RESTORE_VECTORS
  cmpl $1, AT(ANSWER)
  je .Ltrace
  jmp .Lpass

.Lleave_slowly:
  SAVE_VECTORS
  leaq -FRAME(%rbp), %rdi
  call headrace_trace_leave_slowly
  RESTORE_VECTORS
  jmp .Lreturn
  .cfi_endproc
  .size trampoline, . - trampoline

#else

/* Nothing is traced on other processors (can_trace). */
  .text
  .globl headrace_trace_stubs
  .hidden headrace_trace_stubs
headrace_trace_stubs:
  .globl headrace_trace_returned
  .hidden headrace_trace_returned
headrace_trace_returned:
  .byte 0

#endif

  .section .note.GNU-stack, "", @progbits
